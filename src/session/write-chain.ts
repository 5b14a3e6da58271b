import type { ChainWrite } from "./contract.ts";
import { anchorWithin, partsOf } from "./epoch.ts";
import { type Base, LAST } from "./opening.ts";
import type { Store } from "./store.ts";

/** Stores the new bytes of one request, and the opening of its epoch if it is the first. */
export function writeChain(store: Store, rev: number, { key, epoch, open, deferred, items, marks }: ChainWrite): void {
  if (open !== null) {
    store.addEpoch(rev, key, epoch, {
      verdict: open.verdict,
      revision: open.revision,
      prefix: store.addFrozen(rev, [[open.prefix], open.marks ? [JSON.stringify(open.marks)] : []]),
      deferred: deferred.length === 0 ? null : store.addFrozen(rev, [deferred, marks?.deferred ?? []]),
      base: open.base === null ? null : flattened(store, rev, key, open.base),
    });
  }
  const added = open === null ? deferred : [];
  if (added.length === 0 && items.length === 0) return;
  const addedMarks = open === null ? (marks?.deferred ?? []) : [];
  store.addItems(rev, key, epoch, [added, items, ...(marks ? [addedMarks, marks.items] : [])]);
}

/**
 * The base of an epoch that is opened at revision `rev`. It is the oldest epoch that has all that is kept, so that a
 * thousand answers given anew all go on from the same one.
 */
function flattened(store: Store, rev: number, chain: string, base: { epoch: number; items: number }): Base | null {
  const { epoch, items } = base;
  if (items === 0) return null;
  const newest = store.newestEpoch(chain);
  if (newest?.epoch !== epoch) throw new Error(`an epoch goes on from epoch ${epoch}, which is not its chain's newest`);
  const anchor = anchorWithin(store, chain, partsOf(store, newest), items, LAST);
  let found: Base = { epoch, items, anchor, from: newest.rev, through: rev - 1 };
  let below = store.opening(found.from).base;
  while (below !== null && items <= below.items) {
    found = { ...below, items, anchor };
    below = store.opening(found.from).base;
  }
  let count = below?.items ?? 0;
  for (const { rev: through, lists } of store.items(chain, found)) {
    count += lists[1]?.length ?? 0;
    if (count > items) return { ...found, through };
  }
  return found;
}
