import type { Numbered } from "../values/entry.ts";

/** The sequence numbers from the first through the second. */
export type Span = readonly [first: number, last: number];

/**
 * Which of a session's entries, 1 to `lastSeq`, rewinds took back: those that are not in `left` (`uncompacted`). None of
 * them ever will be effective again, and a turn hangs new entries on effective ones only: so the effective context is
 * the same without them, whatever is appended, and they need not be read.
 */
export function cutSpans(left: readonly Numbered[], lastSeq: number): Span[] {
  const kept = left.map(({ seq }) => seq).sort((a, b) => a - b);
  return spansBetween(
    kept.map((seq): Span => [seq, seq]),
    lastSeq,
  );
}

/** What of 1 to `last` lies outside of `spans`, which are in order: in order too, and merged. */
export function spansBetween(spans: readonly Span[], last: number): Span[] {
  const between: Span[] = [];
  let next = 1;
  for (const [from, through] of [...spans, [last + 1, last + 1] as const]) {
    if (from > next) between.push([next, from - 1]);
    next = through + 1;
  }
  return between;
}
