import type { Cause } from "../values/turn-event.ts";
import type { ChainState } from "./contract.ts";
import type { EpochHead, Store } from "./store.ts";

/** How the chain that a turn asks for stands. */
export interface Standing {
  readonly chain: ChainState | null;
  readonly nextEpoch: number;
  readonly broken: Cause | null;
}

/** A chain's name: its model, and the mode where each mode is a chain of its own. */
export function chainKey(asked: { readonly model: string; readonly perMode: boolean }, mode: string): string {
  return asked.perMode ? `${asked.model}#${mode}` : asked.model;
}

/**
 * Reads the newest epoch of a chain: its frozen bytes as far as their entries are still effective (`isEffective`), and
 * why the next request can't extend the last where it can't.
 */
export function standing(store: Store, model: string, key: string, isEffective: (seq: number) => boolean): Standing {
  const heads = store.epochs();
  const newest = heads.filter((head) => head.chain === key).at(-1);
  if (newest === undefined) {
    const sameModel = heads.some(({ chain }) => chain === model || chain.startsWith(`${model}#`));
    return { chain: null, nextEpoch: 1, broken: heads.length === 0 ? null : sameModel ? "mode" : "model" };
  }
  const nextEpoch = newest.epoch + 1;
  const ended = store.endedBy(newest.rev);
  if (ended !== null) return { chain: null, nextEpoch, broken: ended };

  const { verdict, revision, prefix } = store.opening(newest.rev);
  const { deferred, items } = frozen(store, heads, newest);
  const lost = items.findIndex((item) => !isEffective(itemSeq(item)));
  const kept = lost < 0 ? items : items.slice(0, lost);
  const cut = kept.length < items.length;
  const anchor = anchorWithin(store, heads, newest, kept.length);
  const last = cut ? null : lastRequest(store, newest);
  const chain = { key, epoch: newest.epoch, verdict, revision, prefix, deferred, items: kept, cut, anchor, last };
  return { chain, nextEpoch, broken: cut ? "rewind" : null };
}

/** The entry an item came from: all that the session reads of it. */
export function itemSeq(item: string): number {
  const value: unknown = JSON.parse(item);
  if (typeof value === "object" && value !== null && "seq" in value && typeof value.seq === "number") return value.seq;
  throw new Error("a stored item names no entry");
}

/** An epoch's deferred definitions, which it opened with or added, and its items, with those it took over from its base. */
function frozen(store: Store, heads: readonly EpochHead[], head: EpochHead): { deferred: string[]; items: string[] } {
  const own = store.items(head.chain, head.epoch);
  const { base } = store.opening(head.rev);
  if (base === null) return own;
  const before = frozen(store, heads, headOf(heads, head.chain, base.epoch));
  return { deferred: own.deferred, items: [...before.items.slice(0, base.items), ...own.items] };
}

/** The end marker of the newest answered request, in this epoch or the ones it goes on from, among the first `length` items. */
function anchorWithin(store: Store, heads: readonly EpochHead[], head: EpochHead, length: number): number | null {
  for (const { answered, end } of store.epochCalls(head.chain, head.epoch)) {
    if (answered && end !== null && end < length) return end;
  }
  const { base } = store.opening(head.rev);
  if (base === null) return null;
  return anchorWithin(store, heads, headOf(heads, head.chain, base.epoch), Math.min(length, base.items));
}

function lastRequest(store: Store, head: EpochHead): { hash: string; segments: number } | null {
  for (const { hash, segments } of store.epochCalls(head.chain, head.epoch)) return { hash, segments };
  return null;
}

function headOf(heads: readonly EpochHead[], chain: string, epoch: number): EpochHead {
  const head = heads.find((other) => other.chain === chain && other.epoch === epoch);
  if (head === undefined) throw new Error(`epoch ${epoch} goes on from one that was never opened`);
  return head;
}
