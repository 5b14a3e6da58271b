import type { CallBlock, Numbered, ResultsEntry, ToolResult } from "../values/entry.ts";
import { callsOf } from "./effective.ts";

/** What the model reads where a call's result was lost. */
export const MISSING = "No result was recorded for this call.";

/**
 * Belt and braces over the effective context: every call gets exactly one result, right after its answer. Of several
 * results for one call the first counts, results without a call go, and a call without one gets a placeholder that is
 * made here and never stored. `pending` is the assistant entry whose calls are still to be run, and is left alone.
 */
export function repair(effective: readonly Numbered[], pending: number | null = null): Numbered[] {
  const batches = new Map<number, Numbered<ResultsEntry>[]>();
  for (const { seq, entry } of effective) {
    if (entry.kind !== "results") continue;
    const batch = batches.get(entry.of);
    if (batch) batch.push({ seq, entry });
    else batches.set(entry.of, [{ seq, entry }]);
  }
  return effective.flatMap((numbered): Numbered[] => {
    const { seq, entry } = numbered;
    if (entry.kind === "results") return [];
    if (entry.kind !== "assistant") return [numbered];
    const calls = callsOf(entry);
    const stored = batches.get(seq) ?? [];
    if (calls.length === 0 || (seq === pending && stored.length === 0)) return [numbered];
    return [numbered, completed(calls, stored, numbered)];
  });
}

/** The batch's results, complete and in the order of the calls; the stored entry itself where nothing is wrong with it. */
function completed(
  calls: readonly CallBlock[],
  stored: readonly Numbered<ResultsEntry>[],
  assistant: Numbered,
): Numbered<ResultsEntry> {
  const found = new Map<string, ToolResult>();
  for (const result of stored.flatMap(({ entry }) => entry.results)) {
    if (!found.has(result.call)) found.set(result.call, result);
  }
  const ids = [...new Map(calls.map((call) => [call.id, call])).values()];
  const results = ids.map((call) => found.get(call.id) ?? missing(call));
  const first = stored[0];
  if (first && stored.length === 1 && sameList(first.entry.results, results)) return first;
  const { at, turn } = assistant.entry;
  return {
    seq: first?.seq ?? assistant.seq,
    entry: { v: 1, origin: "runtime", at, turn, kind: "results", of: assistant.seq, results },
  };
}

function missing(call: CallBlock): ToolResult {
  return { call: call.id, name: call.name, status: "missing", content: [{ type: "text", text: MISSING }] };
}

function sameList(a: readonly ToolResult[], b: readonly ToolResult[]): boolean {
  return a.length === b.length && a.every((result, index) => result === b[index]);
}
