import type { PrefixMarks } from "../prefix/marks.ts";
import type { Numbered } from "../values/entry.ts";
import type { Cause, Verdict } from "../values/turn-event.ts";
import { itemOf } from "./chain.ts";
import type { CallRecord } from "./contract.ts";
import { type Marked, type WholeEpoch, wholeEpoch } from "./epoch.ts";
import { type Base, frozenPrefix } from "./opening.ts";
import type { EpochHead, Store } from "./store.ts";
import { writeChain } from "./write-chain.ts";

/** The newest epoch of a chain, as far as a branch has its entries. */
export interface BranchChain {
  readonly key: string;
  readonly epoch: number;
  readonly verdict: Verdict;
  readonly revision: number;
  readonly prefix: string;
  readonly marks: PrefixMarks | null;
  /** Why it is over; null where the branch's next request extends it. */
  readonly ended: Cause | null;
  readonly deferred: readonly Marked[];
  readonly items: readonly Marked[];
  /**
   * The answered requests that hold nothing else, the last of each turn: the branch's next one is held against the newest,
   * and that of a branch of the branch against an older one.
   */
  readonly calls: readonly CallRecord[];
}

/**
 * The chains of a branch, in the order in which their newest epochs were opened. `cold`: what was sent can't be gone on
 * from, since a load point or a compaction is not in the branch (`warm` false), or since the newest epoch was rendered from
 * other entries; then all of them are over.
 */
export function branchChains(
  store: Store,
  effective: readonly Numbered[],
  warm: boolean,
): { readonly chains: BranchChain[]; readonly cold: boolean } {
  const there = new Set(effective.map(({ seq }) => seq));
  const heads = store
    .chains()
    .flatMap((key) => ({ key, head: store.newestEpoch(key) }))
    .flatMap(({ key, head }) => (head === null ? [] : [{ key, head }]))
    .sort((a, b) => a.head.rev - b.head.rev);
  const chains = heads.map(({ key, head }) => branchChain(store, key, head, there));
  const newest = chains.at(-1);
  const lost = newest?.ended === null && newest.items.length === 0 && effective.length > 0;
  const cold = !warm || lost;
  if (cold) return { cold, chains: chains.map((chain) => over(chain, endedBy(chain))) };
  // A chain of which nothing is left never was, but for the one that the next request belongs to.
  const left = chains.filter((chain) => chain === newest || chain.ended !== null || chain.items.length > 0);
  return { cold, chains: left };
}

/** Why a chain is over where the branch began anew. A compaction that ended it may not be there. */
function endedBy({ ended }: BranchChain): Cause {
  return ended === null || ended === "compaction" ? "fork_reset" : ended;
}

/** Stores the chains from revision `rev` on. Answers the last revision it took. */
export function writeBranchChains(store: Store, rev: number, chains: readonly BranchChain[]): number {
  let at = rev;
  for (const { key, epoch, verdict, revision, prefix, marks, ended, deferred, items, calls } of chains) {
    const open = { verdict, revision, prefix, base: null, ...(marks === null ? {} : { marks }) };
    writeChain(store, at, {
      ...{ key, epoch, open },
      deferred: deferred.map(({ text }) => text),
      items: items.map(({ text }) => text),
      marks: { deferred: deferred.map(({ mark }) => mark), items: items.map(({ mark }) => mark) },
    });
    for (const [index, call] of calls.entries()) store.addCall(at + index, call);
    at += Math.max(1, calls.length);
    if (ended === null) continue;
    store.addEnding(at, ended);
    at += 1;
  }
  return at - 1;
}

function branchChain(store: Store, key: string, head: EpochHead, there: ReadonlySet<number>): BranchChain {
  const whole = wholeEpoch(store, key, head);
  const { opening } = whole;
  const { prefix, marks } = frozenPrefix(store, opening);
  const { verdict, revision } = opening;
  const bare = { key, epoch: head.epoch, verdict, revision, prefix, marks, ended: store.endedBy(head.rev) };
  if (bare.ended !== null) return over(bare, bare.ended);
  const items: Marked[] = [];
  for (const { text, mark } of whole.items) {
    if (!there.has(itemOf(text).seq)) break;
    items.push({ text, mark });
  }
  return {
    ...bare,
    ...(items.length === 0 ? { verdict: { prefix: "first" } as const } : {}),
    deferred: whole.deferred,
    items,
    // They stand in the ledger of the session they were made in, and are counted there.
    calls: callsWithin(store, key, whole, items.length).map((call) => ({ ...call, epoch: head.epoch, copied: true })),
  };
}

function over(
  chain: Pick<BranchChain, "key" | "epoch" | "verdict" | "revision" | "prefix" | "marks">,
  ended: Cause,
): BranchChain {
  return { ...chain, ended, deferred: [], items: [], calls: [] };
}

/** The answered requests with the epoch's prefix whose items are all among the first `length`, the last of each turn. */
function callsWithin(store: Store, key: string, { opening, parts }: WholeEpoch, length: number): CallRecord[] {
  const samePrefix = ({ from }: Base) => {
    const { prefix, revision } = store.opening(from);
    return prefix === opening.prefix && revision === opening.revision;
  };
  const other = parts.findLastIndex((part) => !samePrefix(part));
  const calls = parts.slice(other + 1).flatMap((part) => store.answeredWithin(key, part, Math.min(length, part.items)));
  return [...new Map(calls.map((call) => [call.turn, call])).values()];
}
