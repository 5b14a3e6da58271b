import type { Marks } from "../prefix/marks.ts";
import type { Cause } from "../values/turn-event.ts";
import { inputTokens } from "../values/usage.ts";
import type { CallRecord, ChainState } from "./contract.ts";
import { anchorWithin, wholeEpoch, wholly } from "./epoch.ts";
import { frozenPrefix, LAST } from "./opening.ts";
import type { Store } from "./store.ts";

/** How the chain that a turn asks for stands. */
export interface Standing {
  readonly chain: ChainState | null;
  readonly nextEpoch: number;
  readonly broken: Cause | null;
  readonly message: string | null;
  /** See `TurnStart.used`. */
  readonly used: number | null;
  /** The entries that the chain's items stand for. */
  readonly sent: ReadonlySet<number>;
}

/** A chain's name: its model, and the mode where each mode is a chain of its own. */
export function chainKey(asked: { readonly model: string; readonly perMode: boolean }, mode: string): string {
  return asked.perMode ? `${asked.model}#${mode}` : asked.model;
}

/**
 * Reads the newest epoch of a chain: its frozen bytes as far as their entries are still effective (`isEffective`), and
 * why the next request can't extend the last where it can't. Of what it goes on from, only what it kept is read.
 */
export function standing(store: Store, model: string, key: string, isEffective: (seq: number) => boolean): Standing {
  const sent = new Set<number>();
  const newest = store.newestEpoch(key);
  const used = usedTokens(store.lastLink());
  if (newest === null) return { chain: null, nextEpoch: 1, broken: before(store, model), message: null, used, sent };
  const answered = store.lastAnswered(key);
  const message = answered?.call.message ?? null;
  const nextEpoch = newest.epoch + 1;
  const ended = store.endedBy(newest.rev);
  if (ended !== null) return { chain: null, nextEpoch, broken: ended, message, used, sent };

  const { opening, parts, deferred, items } = wholeEpoch(store, key, newest);
  const kept: string[] = [];
  let cutAt: number | null = null;
  for (const { rev, text } of items) {
    const { seq, ahead } = itemOf(text);
    if (!isEffective(seq)) {
      cutAt = rev;
      break;
    }
    kept.push(text);
    if (!ahead) sent.add(seq);
  }
  const cut = cutAt !== null;
  // Above it there may be thousands of calls of other chains, which are passed over once.
  const through = answered?.rev ?? 0;
  const last = cut ? null : store.lastCall(key, { ...wholly(newest), through });
  const chain = {
    key,
    epoch: newest.epoch,
    verdict: opening.verdict,
    revision: opening.revision,
    prefix: frozenPrefix(store, opening).prefix,
    deferred: deferred.map(({ text }) => text),
    items: kept,
    cut,
    anchor: anchorWithin(store, key, parts, kept.length, Math.min(cutAt ?? LAST, through)),
    last: last === null ? null : { hash: last.hash, segments: last.segments },
  };
  // What a rewind left of a context is smaller than the last call says, nobody knows by how much.
  return { chain, nextEpoch, broken: cut ? "rewind" : null, message, used: cut ? null : used, sent };
}

/** The marks of a chain's newest epoch; null where there is none. */
export function epochMarks(store: Store, key: string): Marks | null {
  const newest = store.newestEpoch(key);
  if (newest === null) return null;
  const { opening, deferred, items } = wholeEpoch(store, key, newest);
  return {
    prefix: frozenPrefix(store, opening).marks,
    deferred: deferred.map(({ mark }) => mark),
    items: Array.from(items, ({ mark }) => mark),
  };
}

function usedTokens(call: CallRecord | null): number | null {
  return call === null ? null : inputTokens(call.usage) + call.usage.output;
}

/** Why there is no epoch yet on a chain to that model: it is the first, or another came before. */
function before(store: Store, model: string): Cause | null {
  const chains = store.chains();
  if (chains.length === 0) return null;
  return chains.some((chain) => chain === model || chain.startsWith(`${model}#`)) ? "mode" : "model";
}

/** The entry an item came from, or stands before: all that the session reads of it. */
export function itemOf(item: string): { seq: number; ahead: boolean } {
  const value: unknown = JSON.parse(item);
  if (typeof value === "object" && value !== null && "seq" in value && typeof value.seq === "number") {
    return { seq: value.seq, ahead: "ahead" in value };
  }
  throw new Error("a stored item names no entry");
}
