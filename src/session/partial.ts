import type { ToolResult } from "../values/entry.ts";
import type { Store } from "./store.ts";

/** The results that were there of a batch when its turn was handed over. */
interface Partial {
  /** The number of the answer that made the calls. */
  readonly of: number;
  readonly results: readonly ToolResult[];
}

export function keepPartial(store: Store, rev: number, partial: Partial): void {
  store.addText(rev, "partial", JSON.stringify(partial));
}

/** The results kept for the batch of that answer; none where all or nothing of it was stored. */
export function partialOf(store: Store, of: number): readonly ToolResult[] {
  const text = store.text("partial");
  if (text === null) return [];
  const partial: Partial = JSON.parse(text);
  return partial.of === of ? partial.results : [];
}
