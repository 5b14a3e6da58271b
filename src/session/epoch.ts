import { type Base, type ChainPart, LAST, type Opening, openedWith } from "./opening.ts";
import type { EpochHead, Store } from "./store.ts";

/** A text as it was first sent, with its mark; empty where none was kept. */
export interface Marked {
  readonly text: string;
  readonly mark: string;
}

/** An epoch with all that it goes on from. */
export interface WholeEpoch {
  readonly opening: Opening;
  /** Where its items are, the oldest part first, the epoch's own last. */
  readonly parts: readonly Base[];
  readonly deferred: readonly Marked[];
  /** Its items, each with the revision that brought it. Parts are read as they are reached. */
  readonly items: Iterable<Marked & { readonly rev: number }>;
}

export function wholeEpoch(store: Store, chain: string, head: EpochHead): WholeEpoch {
  const opening = store.opening(head.rev);
  const parts = partsOf(store, head);
  const own = [...store.items(chain, wholly(head))];
  const opened = openedWith(store, opening);
  const deferred = [
    ...marked(opened.deferred, opened.marks),
    ...own.flatMap(({ lists: [added, , marks] }) => marked(added, marks)),
  ];
  function* items() {
    let start = 0;
    for (const part of parts) {
      yield* firstItems(part.from === head.rev ? own : store.items(chain, part), part.items - start);
      start = part.items;
    }
  }
  return { opening, parts, deferred, items: items() };
}

/** All that an epoch's own requests brought. */
export function wholly({ epoch, rev }: EpochHead): ChainPart {
  return { epoch, from: rev, through: LAST };
}

/** Where an epoch's items are: in what it goes on from, the oldest first, and in its own rows. */
export function partsOf(store: Store, head: EpochHead): Base[] {
  const parts: Base[] = [{ ...wholly(head), items: LAST, anchor: null }];
  let { base } = store.opening(head.rev);
  for (; base !== null; base = store.opening(base.from).base) parts.unshift(base);
  return parts;
}

/**
 * The end marker of the newest answered request whose items are all among the first `length`. Requests after revision
 * `through` had others.
 */
export function anchorWithin(
  store: Store,
  chain: string,
  parts: readonly Base[],
  length: number,
  through: number,
): number | null {
  for (const part of parts.toReversed()) {
    if (part.anchor !== null && part.anchor < length) return part.anchor;
    const until = { ...part, through: Math.min(part.through, through) };
    if (until.from > until.through) continue;
    const end = store.lastEnd(chain, until, Math.min(length, part.items));
    if (end !== null) return end;
  }
  return null;
}

function* firstItems(writes: Iterable<{ readonly rev: number; readonly lists: string[][] }>, count: number) {
  let left = count;
  for (const { rev, lists } of writes) {
    const [, items = [], , marks] = lists;
    for (const item of marked(items.slice(0, left), marks)) yield { ...item, rev };
    left -= items.length;
    if (left <= 0) return;
  }
}

function marked(texts: readonly string[] = [], marks: readonly string[] = []): Marked[] {
  return texts.map((text, index) => ({ text, mark: marks[index] ?? "" }));
}
