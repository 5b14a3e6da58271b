import type { Marks } from "../prefix/marks.ts";
import type { Cause } from "../values/turn-event.ts";
import type { ChainState } from "./contract.ts";
import type { EpochHead, Store } from "./store.ts";

/** How the chain that a turn asks for stands. */
export interface Standing {
  readonly chain: ChainState | null;
  readonly nextEpoch: number;
  readonly broken: Cause | null;
  readonly message: string | null;
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
  const message = store.lastAnswered(key)?.message ?? null;
  if (newest === undefined) {
    const sameModel = heads.some(({ chain }) => chain === model || chain.startsWith(`${model}#`));
    return { chain: null, nextEpoch: 1, broken: heads.length === 0 ? null : sameModel ? "mode" : "model", message };
  }
  const nextEpoch = newest.epoch + 1;
  const ended = store.endedBy(newest.rev);
  if (ended !== null) return { chain: null, nextEpoch, broken: ended, message };

  const { verdict, revision, prefix } = store.opening(newest.rev);
  const { deferred, items } = wholeEpoch(store, heads, newest, (epoch) => store.items(key, epoch));
  const lost = items.findIndex((item) => !isEffective(itemSeq(item)));
  const kept = lost < 0 ? items : items.slice(0, lost);
  const cut = kept.length < items.length;
  const anchor = anchorWithin(store, heads, newest, kept.length);
  const last = cut ? null : lastRequest(store, newest);
  const chain = { key, epoch: newest.epoch, verdict, revision, prefix, deferred, items: kept, cut, anchor, last };
  return { chain, nextEpoch, broken: cut ? "rewind" : null, message };
}

/** The marks of a chain's newest epoch; null where there is none. */
export function epochMarks(store: Store, key: string): Marks | null {
  const heads = store.epochs();
  const newest = heads.filter((head) => head.chain === key).at(-1);
  if (newest === undefined) return null;
  const kept = wholeEpoch(store, heads, newest, (epoch) => store.marks(key, epoch));
  return { prefix: store.opening(newest.rev).marks ?? null, ...kept };
}

/** The entry an item came from: all that the session reads of it. */
export function itemSeq(item: string): number {
  const value: unknown = JSON.parse(item);
  if (typeof value === "object" && value !== null && "seq" in value && typeof value.seq === "number") return value.seq;
  throw new Error("a stored item names no entry");
}

/** What there is of an epoch: the definitions it opened with or added, the items it took over from its base and its own. */
interface Lists {
  readonly deferred: readonly string[];
  readonly items: readonly string[];
}

/** Puts an epoch together from what `own` reads of it and of the epochs it goes on from. */
function wholeEpoch(store: Store, heads: readonly EpochHead[], head: EpochHead, own: (epoch: number) => Lists): Lists {
  const { deferred, items } = own(head.epoch);
  const { base } = store.opening(head.rev);
  if (base === null) return { deferred, items };
  const before = wholeEpoch(store, heads, headOf(heads, head.chain, base.epoch), own);
  return { deferred, items: [...before.items.slice(0, base.items), ...items] };
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
