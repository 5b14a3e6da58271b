import type { Page, SessionContext, TurnStart } from "./contract.ts";

/** RPC carries 32 MiB at most; an answer of ours stays well below, unless a single text is larger than this. */
export const PAGE_CHARS = 8_000_000;

const NOTHING: Page = { deferred: [], items: [], entries: [], blobs: [] };

/** The lists of an answer in pages of at most `size` characters each; at least one page. */
export function paginate(lists: Page, size = PAGE_CHARS): [Page, ...Page[]] {
  const pages: { [K in keyof Page]: Page[K][number][] }[] = [];
  let room = 0;
  const page = (length: number) => {
    const open = pages.at(-1);
    if (open !== undefined && length <= room) {
      room -= length;
      return open;
    }
    room = size - length;
    const fresh = { deferred: [], items: [], entries: [], blobs: [] };
    pages.push(fresh);
    return fresh;
  };
  for (const text of lists.deferred) page(text.length).deferred.push(text);
  for (const text of lists.items) page(text.length).items.push(text);
  for (const row of lists.entries) page(row[1].length).entries.push(row);
  for (const blob of lists.blobs) page(blob.base64.length).blobs.push(blob);
  const [first = NOTHING, ...rest] = pages;
  return [first, ...rest];
}

/** The lists of `first` with those of the pages that follow it. */
export function assemble(first: Page, rest: readonly Page[]): Page {
  const all = [first, ...rest];
  return {
    deferred: all.flatMap((page) => page.deferred),
    items: all.flatMap((page) => page.items),
    entries: all.flatMap((page) => page.entries),
    blobs: all.flatMap((page) => page.blobs),
  };
}

/** What of a turn's start is paged. */
export function listsOf({ chain, entries, blobs }: Pick<TurnStart, "chain" | "entries" | "blobs">): Page {
  return { deferred: chain?.deferred ?? [], items: chain?.items ?? [], entries, blobs };
}

/** A turn's start with other lists, of which `more` pages follow. */
export function withLists(start: TurnStart, { deferred, items, entries, blobs }: Page, more: number): TurnStart {
  const chain = start.chain === null ? null : { ...start.chain, deferred, items };
  return { ...start, chain, entries, blobs, more };
}

/** What of a context is paged. */
export function listsOfContext({ entries, blobs }: SessionContext): Page {
  return { deferred: [], items: [], entries, blobs };
}
