import type { Block, CompactionEntry, Entry, Numbered, Place, ToolResult } from "../../src/values/entry.ts";

const made = { v: 1, at: 0 } as const;

/** A session's entries, numbered from 1. */
export function numbered(...entries: readonly Entry[]): Numbered[] {
  return entries.map((entry, index) => ({ seq: index + 1, entry }));
}

export const seqs = (entries: readonly Numbered[]): number[] => entries.map(({ seq }) => seq);

export function user(text: string, turn = "t"): Entry {
  return { ...made, origin: "client", turn, kind: "user", content: [{ type: "text", text }] };
}

export function answer(text: string, turn = "t", ...calls: readonly string[]): Entry {
  const blocks: Block[] = text === "" ? [] : [{ type: "text", text }];
  for (const id of calls) blocks.push({ type: "call", id, name: "tool", input: "{}" });
  const stop = calls.length > 0 ? "calls" : "end";
  return { ...made, origin: "runtime", turn, kind: "assistant", model: "m", chain: "m", epoch: 1, blocks, stop };
}

export function results(of: number, ...calls: readonly string[]): Entry {
  return { ...made, origin: "runtime", turn: "t", kind: "results", of, results: calls.map((call) => result(call)) };
}

export function result(call: string, text = "done"): ToolResult {
  return { call, name: "tool", status: "ok", content: [{ type: "text", text }] };
}

export function hostSearch(call: string, place: Place): Entry {
  return { ...made, origin: "runtime", turn: "t", kind: "host_search", call, names: ["late"], place };
}

export function rewind(to: number): Entry {
  return { ...made, origin: "runtime", turn: "t", kind: "rewind", to, why: "edited" };
}

export function compaction(kept: readonly number[], more: Partial<CompactionEntry> = {}): Entry {
  const about = { summary: "So far.", kept, carriedToolNames: [], why: "asked" } as const;
  return { ...made, origin: "runtime", turn: "t", kind: "compaction", ...about, ...more };
}
