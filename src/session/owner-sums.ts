import { sessionName } from "./name.ts";
import type { SessionRow } from "./store.ts";

/**
 * Brings an owner's sums up to what its session takes now: `bytes` in all, and the session itself if it was not measured yet.
 * It must stand in one batch with, and before, the statement that raises the record's revision and sets its `bytes`:
 * the difference to the record is what is added, so a repeat adds nothing. A record of 0 bytes was written before there were
 * sums, or by an object that did not know them yet: it counts from here on.
 */
export function countSession(db: D1Database, row: SessionRow, bytes: number): D1PreparedStatement {
  const add = `INSERT INTO owners (owner, sessions, bytes) SELECT owner, bytes = 0, ?4 - bytes FROM sessions
    WHERE id = ?1 AND generation = ?2 AND deleted_at IS NULL AND rev < ?3
    ON CONFLICT (owner) DO UPDATE SET sessions = sessions + excluded.sessions, bytes = bytes + excluded.bytes`;
  return db.prepare(add).bind(sessionName(row), row.generation, row.rev, bytes);
}

/** Takes a session out of its owner's sums. It must stand in one batch with, and before, its tombstone. */
export function uncountSession(db: D1Database, owner: string, session: string): D1PreparedStatement {
  const subtract = `UPDATE owners SET sessions = sessions - 1, bytes = bytes - (SELECT bytes FROM sessions WHERE id = ?2)
    WHERE owner = ?1 AND EXISTS (SELECT 1 FROM sessions WHERE id = ?2 AND deleted_at IS NULL AND bytes > 0)`;
  return db.prepare(subtract).bind(owner, session);
}
