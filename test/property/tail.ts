import { type Layout, layoutDifference } from "../emulators/common/layout.ts";

/** How a block of a request begins that tells of tools a mode withholds or gives back. */
const CHANGE = /^system \{"type": ?"tool_(removal|addition)"/;

/**
 * Where a request does not extend an earlier one, or null. What an earlier one ended with to tell of tools may be gone
 * where no answer followed it: it stands at the end of the next request then, as far as it still holds. `answered`: what
 * follows may be its answer, and not another model's.
 */
export function difference(earlier: Layout, later: Layout, answered = true): string | null {
  const why = layoutDifference(earlier, later);
  const end = earlier.blocks.findLastIndex((block) => !CHANGE.test(block)) + 1;
  if (why === null || end === earlier.blocks.length) return why;
  const next = later.blocks[end] ?? "";
  // A search that the runtime made is no answer.
  if (answered && next.startsWith("assistant ") && !next.includes('"id":"hfs_')) return why;
  return layoutDifference({ ...earlier, blocks: earlier.blocks.slice(0, end) }, later);
}

/** Whether a request ended with words on what a mode withholds: taking its answer back takes them back too. */
export function endsWithChange({ blocks }: Layout): boolean {
  return CHANGE.test(blocks.at(-1) ?? "");
}
