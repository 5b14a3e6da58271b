import { sha256 } from "./digest.ts";

/** Hex digits of a mark: eight bytes tell one segment from another, and cost little beside it. */
const MARK_LENGTH = 16;

/** Marks of what stands before the items of an epoch. */
export interface PrefixMarks {
  readonly settings: string;
  readonly tools: readonly string[];
  readonly system: readonly string[];
}

/**
 * Short hashes of an epoch's segments as they were first sent, kept beside them, so that what changed can be named. An
 * empty mark, or no `prefix`, is one that was not kept.
 */
export interface Marks {
  readonly prefix: PrefixMarks | null;
  readonly items: readonly string[];
  readonly deferred: readonly string[];
}

/** The mark of one segment. */
export function mark(segment: string): string {
  return sha256(segment).slice(0, MARK_LENGTH);
}

/**
 * The first segment that is not what it was, counted from 0 within its kind: `settings`, `inline tool 3`, `system 1`,
 * `block 17`, `deferred tool 2`. Null where all marks agree. `now` may hold more items and deferred tools.
 */
export function placeOf(before: Marks, now: Marks): string | null {
  return (
    (before.prefix && now.prefix ? prefixPlace(before.prefix, now.prefix) : null) ??
    firstChange("block", before.items, now.items) ??
    firstChange("deferred tool", before.deferred, now.deferred)
  );
}

function prefixPlace(before: PrefixMarks, now: PrefixMarks): string | null {
  if (before.settings !== now.settings) return "settings";
  return (
    firstChange("inline tool", before.tools, now.tools) ??
    firstAddition("inline tool", before.tools, now.tools) ??
    firstChange("system", before.system, now.system) ??
    firstAddition("system", before.system, now.system)
  );
}

function firstChange(kind: string, before: readonly string[], now: readonly string[]): string | null {
  const index = before.findIndex((kept, at) => kept !== "" && kept !== now[at]);
  return index < 0 ? null : `${kind} ${index}`;
}

function firstAddition(kind: string, before: readonly string[], now: readonly string[]): string | null {
  return now.length > before.length ? `${kind} ${before.length}` : null;
}
