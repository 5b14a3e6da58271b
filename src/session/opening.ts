import type { PrefixMarks } from "../prefix/marks.ts";
import type { Verdict } from "../values/turn-event.ts";
import type { Store } from "./store.ts";

/** The rows of one epoch of a chain that came with the revisions `from` through `through`. */
export interface ChainPart {
  readonly epoch: number;
  readonly from: number;
  readonly through: number;
}

/**
 * What an epoch goes on from: the first `items` items of another, those included which that one has from its own base.
 * `from` is the revision that opened it, `through` the last that may have brought something of what is kept.
 */
export interface Base extends ChainPart {
  readonly items: number;
  /** Where the end marker of the last answered request among what is kept stood when it was kept. */
  readonly anchor: number | null;
}

/** The opening of an epoch, as stored. Prefix and definitions are the hashes of bytes that epochs share. */
export interface Opening {
  readonly verdict: Verdict;
  readonly revision: number;
  readonly prefix: string;
  readonly deferred: string | null;
  readonly base: Base | null;
}

/** A revision that is above all. */
export const LAST = Number.MAX_SAFE_INTEGER;

/** The frozen prefix of an epoch, and its marks if they were kept. */
export function frozenPrefix(store: Store, { prefix: hash }: Opening): { prefix: string; marks: PrefixMarks | null } {
  const [[prefix = ""] = [], [marks] = []] = store.frozen(hash);
  return { prefix, marks: marks === undefined ? null : parseMarks(marks) };
}

/** The definitions an epoch opened with, and their marks. */
export function openedWith(store: Store, { deferred }: Opening): { deferred: string[]; marks: string[] } {
  const [definitions = [], marks = []] = deferred === null ? [] : store.frozen(deferred);
  return { deferred: definitions, marks };
}

function parseMarks(text: string): PrefixMarks {
  const value: PrefixMarks = JSON.parse(text);
  return value;
}
