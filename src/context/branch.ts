import type { Entry, Numbered } from "../values/entry.ts";
import type { ToolDeferrals } from "../values/tool-deferrals.ts";
import { anchorOf, callsOf, effectiveContext, openBatch, toldEntries, uncompacted } from "./effective.ts";

/**
 * What a fork takes: the entries that stand before the user message with the ordinal `at`, counted from 0 over those
 * that no rewind took back. It cuts by place (design §3.2): a host search right before that message is taken, whenever it
 * was made. Null where there is no such message.
 */
export function entriesBefore(all: readonly Numbered[], at: number): Numbered[] | null {
  const told = toldEntries(all);
  const message = userMessages(told)[at];
  if (message === undefined) return null;
  return bySeq(told.slice(0, told.indexOf(message)).filter(({ entry }) => entry.kind !== "rewind"));
}

/** What users said, in order; what the runtime says in their place (an approved plan) is no message of theirs. */
export function userMessages(told: readonly Numbered[]): Numbered[] {
  return told.filter(({ entry }) => entry.kind === "user" && entry.origin === "client");
}

/**
 * What a clone takes: all entries, and of a turn that is running (its id; null for none) those through its last finished
 * step. Where none is finished yet, the turn is left out whole, with what it took back; a host search it made stays where
 * its place does.
 */
export function finishedEntries(all: readonly Numbered[], running: string | null): readonly Numbered[] {
  if (running === null) return all;
  if (uncompacted(all).some(({ entry }) => entry.turn === running && endsStep(entry))) {
    const open = openBatch(effectiveContext(all));
    return all.filter(({ seq }) => seq !== open?.seq);
  }
  const kept = new Set(all.filter(({ entry }) => entry.turn !== running).map(({ seq }) => seq));
  // What a rewind of the turn took back is there again, and a compaction made since knows nothing of it.
  const rewound = all.some(({ entry }) => entry.turn === running && entry.kind === "rewind");
  return all.filter(({ seq, entry }) => {
    if (kept.has(seq)) return true;
    if (entry.kind === "compaction" && rewound) return false;
    const anchor = anchorOf(entry);
    return anchor !== null && (anchor.at === "before" || kept.has(anchor.seq));
  });
}

/**
 * Whether deferrals may go with a history that was cut (fork, branch, rewind): every load point's call must be in it,
 * as a call of our own with its result or as a host search. If not, the deferrals start empty (design §3.1).
 */
export function survives(deferrals: ToolDeferrals, effective: readonly Numbered[]): boolean {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const { entry } of effective) {
    if (entry.origin !== "runtime") continue;
    if (entry.kind === "assistant") for (const call of callsOf(entry)) called.add(call.id);
    if (entry.kind === "results") for (const result of entry.results) answered.add(result.call);
    if (entry.kind === "host_search") {
      called.add(entry.call);
      answered.add(entry.call);
    }
  }
  return [...deferrals.loadPoints.values()].every((id) => called.has(id) && answered.has(id));
}

function endsStep(entry: Entry): boolean {
  return entry.kind === "results" || (entry.kind === "assistant" && entry.stop === "paused");
}

function bySeq(entries: readonly Numbered[]): Numbered[] {
  return entries.toSorted((a, b) => a.seq - b.seq);
}
