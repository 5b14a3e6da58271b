import { loadedLine } from "../../src/catalog/search.ts";
import type {
  AssistantEntry,
  Entry,
  HostSearchEntry,
  Numbered,
  ResultsEntry,
  ToolResult,
} from "../../src/values/entry.ts";
import { ToolDeferrals } from "../../src/values/tool-deferrals.ts";

/** Entries as short as a test wants them. */
export const made = { v: 1, origin: "runtime", at: 0, turn: "t1" } as const;

export const user = (text: string): Entry => ({
  ...made,
  kind: "user",
  origin: "client",
  content: [{ type: "text", text }],
});

/** Answers of a model, in its chain's first epoch. */
export const answersOf =
  (model: string) =>
  (...blocks: AssistantEntry["blocks"]): AssistantEntry => ({
    ...made,
    kind: "assistant",
    model,
    chain: model,
    epoch: 1,
    blocks,
    stop: "end",
  });

export const call = (id: string, name: string, input = "{}") => ({ type: "call", id, name, input }) as const;
export const results = (of: number, ...list: ToolResult[]): ResultsEntry => ({
  ...made,
  kind: "results",
  of,
  results: list,
});
export const ok = (id: string, name: string, text: string): ToolResult => ({
  call: id,
  name,
  status: "ok",
  content: [{ type: "text", text }],
});
export const found = (id: string, names: string[], text = loadedLine(names)): ToolResult => ({
  ...ok(id, "tool_search", text),
  details: { addedToolNames: names },
});
export const host = (id: string, names: string[], place: HostSearchEntry["place"]): Entry => ({
  ...made,
  kind: "host_search",
  call: id,
  names,
  place,
});

export function deferrals(loadPoints: Record<string, string>): ToolDeferrals {
  return ToolDeferrals.parse(JSON.stringify({ initial: ["clock", "tool_search"], loadPoints }), "s");
}

export function numbered(entries: readonly Entry[]): Numbered[] {
  return entries.map((entry, index) => ({ seq: index + 1, entry }));
}
