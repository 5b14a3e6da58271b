import { encodeEntry } from "../values/entry.ts";
import type { PatchRequest } from "./contract.ts";
import type { SessionRow, Store } from "./store.ts";

/** Writes what an owner changed of a session, as one transaction. False where it is as it was already. */
export function patchRow(
  store: Store,
  row: SessionRow,
  { mode = row.mode, title = row.title }: { [K in "mode" | "title"]: PatchRequest[K] | undefined },
  now: number,
): boolean {
  if (mode === row.mode && title === row.title) return false;
  const made = { v: 1, origin: "client", at: now, turn: row.turn } as const;
  const entries = mode === row.mode ? [] : [encodeEntry({ ...made, kind: "mode_change", mode })];
  const rev = row.rev + 1;
  store.transaction(() => {
    store.addEntries(rev, row.last_seq + 1, entries);
    store.update({ rev, last_seq: row.last_seq + entries.length, mode, title, updated_at: now });
    // A turn that is still marked as running has died. Should it live after all, it must not write behind this.
    if (mode !== row.mode && row.status === "running") store.update({ fence: row.fence + 1 });
  });
  return true;
}
