import { encodeEntry, type RewindEntry } from "../values/entry.ts";
import type { AppendAnswer, CompactRequest } from "./contract.ts";
import type { SessionRow, Store } from "./store.ts";

/**
 * What takes back the part that the provider refused, null where it refused nothing: no summary can be asked for with it,
 * and none is to speak of it.
 */
export function refusedRewind(
  { status, turn, refused_from: to }: Pick<SessionRow, "status" | "turn" | "refused_from">,
  at: number,
): RewindEntry | null {
  return status === "refused" ? { v: 1, kind: "rewind", origin: "runtime", at, turn, to, why: "refused" } : null;
}

/**
 * Stores a compaction that was made while no turn ran, with the reset of the deferrals, as one transaction. `lost` if
 * anything came in between: then it speaks of a context that is no more. A repeat changes nothing. What the provider
 * refused is taken back before it, so that no later rewind takes both.
 */
export function storeCompaction(store: Store, row: SessionRow, request: CompactRequest, now: number): AppendAnswer {
  const { fence, lastSeq, turn, entry, calls } = request;
  const key = `compact/${turn}`;
  if (row.last_append === key) return { kind: "ok", lastSeq: row.last_seq };
  if (row.status === "running" || row.status === "paused" || row.fence !== fence || row.last_seq !== lastSeq)
    return { kind: "lost" };
  const refused = entry === null ? null : refusedRewind(row, now);
  const entries = [refused === null ? null : encodeEntry(refused), entry].filter((text) => text !== null);
  const rev = row.rev + Math.max(1, calls.length);
  store.transaction(() => {
    for (const [index, call] of calls.entries()) store.addCall(row.rev + index + 1, call);
    store.addEntries(rev, lastSeq + 1, entries);
    if (entry !== null) store.addEnding(rev, "compaction");
    store.update({
      ...{ rev, last_seq: lastSeq + entries.length, updated_at: now, last_append: key },
      ...(entry === null ? {} : { deferrals: null, deferrals_rev: rev }),
      ...(refused === null ? {} : { status: "failed", refused_from: 0 }),
    });
  });
  return { kind: "ok", lastSeq: lastSeq + entries.length };
}
