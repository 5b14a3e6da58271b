import { callsOf } from "../../src/context/effective.ts";
import type { Numbered, ToolResult } from "../../src/values/entry.ts";
import { canary } from "./tools.ts";
import type { Look } from "./workerd-place.ts";

/** What a pause that its owner answered has to come to. */
export type Expected = Pick<ToolResult, "status"> & { readonly text: string };

/**
 * Each call has one result, but for those of a batch that waits for its owner: their pause has the other results. Throws
 * what is not so.
 */
export function oneResultEach(entries: readonly Numbered[], status: Look["status"]): void {
  const calls: string[] = [];
  const results: string[] = [];
  const batches = new Set(entries.flatMap(({ entry }) => (entry.kind === "results" ? [entry.of] : [])));
  for (const { entry } of entries) {
    if (entry.kind === "assistant") calls.push(...callsOf(entry).map(({ id }) => id));
    if (entry.kind === "results") results.push(...entry.results.map(({ call }) => call));
    if (entry.kind === "pause" && status === "paused" && !batches.has(entry.of))
      results.push(...[...entry.results, ...entry.pauses].map(({ call }) => call));
  }
  if (calls.sort().join() !== results.sort().join()) {
    throw new Error(`calls ${calls.join()} have the results ${results.join()}`);
  }
}

/** What tools and owners said since the session was last compacted or rewound, but for what the provider refused. */
export function resultsOf(entries: readonly Numbered[], status: Look["status"]): Set<string> {
  const newest = entries.at(-1)?.entry.turn;
  const said = new Set<string>();
  for (const { entry } of entries) {
    if (entry.kind === "rewind" || entry.kind === "compaction") said.clear();
    if (entry.kind !== "results" || (status === "refused" && entry.turn === newest)) continue;
    for (const { call, name, status: came, content } of entry.results) {
      if (JSON.stringify(content).includes(canary(call))) said.add(canary(call));
      if (name === "ask" && came === "ok") said.add(textOf({ content }));
    }
  }
  return said;
}

/**
 * What was asked is answered as its owner answered it (`answers`, by the pause's id), and what nobody answered is
 * interrupted: in the results from the index `known` on. Throws what is not so.
 */
export function checkAnswers(
  entries: readonly Numbered[],
  known: number,
  answers: ReadonlyMap<string, Expected>,
): string[] {
  const pauses = new Map(
    entries.flatMap(({ entry }) =>
      entry.kind === "pause" ? entry.pauses.map(({ id, call }): [string, string] => [`${entry.of} ${call}`, id]) : [],
    ),
  );
  return entries.slice(known).flatMap(({ entry }) => {
    if (entry.kind !== "results") return [];
    return entry.results.flatMap((result) => {
      const pause = pauses.get(`${entry.of} ${result.call}`);
      if (pause === undefined) return [];
      const expected = answers.get(pause);
      const right =
        expected === undefined
          ? result.status === "interrupted"
          : result.status === expected.status && textOf(result).includes(expected.text);
      if (!right)
        throw new Error(`${pause} was answered ${JSON.stringify(expected)}, and is ${JSON.stringify(result)}`);
      return [expected === undefined ? "pause closed" : "pause settled"];
    });
  });
}

export function textOf({ content }: Pick<ToolResult, "content">): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
