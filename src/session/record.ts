import type { SessionId } from "./contract.ts";
import { sessionName } from "./name.ts";
import type { SessionRow, Store } from "./store.ts";
import { countUsage, type Uncounted } from "./usage.ts";

/**
 * The growing tables that D1 has a copy of, with their columns; the first `key` of them are the primary key. In D1 each
 * has the session's name before them.
 */
export const COPIED = [
  { table: "entries", columns: ["seq", "part", "rev", "text"], key: 2 },
  { table: "epochs", columns: ["rev", "chain", "epoch", "text"], key: 1 },
  { table: "frozen", columns: ["hash", "part", "rev", "text"], key: 2 },
  { table: "items", columns: ["rev", "part", "chain", "epoch", "text"], key: 2 },
  { table: "calls", columns: ["rev", "chain", "epoch", "text"], key: 1 },
  { table: "texts", columns: ["name", "rev", "part", "text"], key: 3 },
  { table: "endings", columns: ["rev", "cause"], key: 1 },
  { table: "blobs", columns: ["hash", "part", "rev", "media", "text"], key: 2 },
] as const;

/**
 * What column `state` of D1's `sessions` holds, as JSON: the rest of what a rebuild needs. Without `cuts` all entries are
 * read until the next rewind.
 */
export type RecordState = Partial<Pick<SessionRow, "cuts">> &
  Pick<
    SessionRow,
    "sent_through" | "wire" | "status" | "turn" | "user_seq" | "refused_from" | "step" | "attempts" | "lease_seconds"
  >;

/** What of a session is not in D1 yet, read at one moment. */
export interface Unflushed {
  readonly row: SessionRow;
  readonly rows: readonly {
    readonly table: string;
    readonly columns: readonly string[];
    readonly values: unknown[][];
  }[];
  /** The model calls among them, to be added to their owner's sums. */
  readonly calls: readonly Uncounted[];
}

/** A statement takes at most 1 MB, a batch at most this. */
const STATEMENT_BYTES = 1_000_000;
const BATCH_BYTES = 8_000_000;

export function unflushed(store: Store, row: SessionRow): Unflushed {
  const rows = COPIED.map(({ table, columns }) => ({ table, columns, values: store.unflushed(table, columns, row) }));
  return { row, rows, calls: [...store.calls(row.flushed_rev)] };
}

/**
 * Copies to D1 what is not there yet. A guard in each statement keeps a late copy from doing harm: rows are taken only
 * while the session's record is of the same generation and not deleted, its own row only if its revision rises. So a
 * repeat changes nothing, and after a rebuild or a deletion nothing does. Column `tool_deferrals` has a statement of
 * its own, which is sent only when the deferrals changed.
 *
 * Answers false when the record is no longer this object's. Throws when D1 does: then nothing counts as copied.
 */
export async function copyToRecord(db: D1Database, { row, rows, calls }: Unflushed): Promise<boolean> {
  const id = sessionName(row);
  const state: RecordState = {
    sent_through: row.sent_through,
    cuts: row.cuts,
    wire: row.wire,
    status: row.status,
    turn: row.turn,
    user_seq: row.user_seq,
    refused_from: row.refused_from,
    step: row.step,
    attempts: row.attempts,
    lease_seconds: row.lease_seconds,
  };
  let batch: D1PreparedStatement[] = [];
  let size = 0;
  if (row.flushed_rev === 0) {
    const head = `INSERT INTO sessions
        (id, owner, agent, conversation, title, mode, created_at, updated_at, entries, generation, rev, state)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?) ON CONFLICT DO NOTHING`;
    const { owner, agent, conversation, title, mode, created_at, updated_at, generation } = row;
    const values = [id, owner, agent, conversation, title, mode, created_at, updated_at, generation];
    batch.push(db.prepare(head).bind(...values, JSON.stringify(state)));
  }
  for (const { table, columns, values } of rows) {
    const insert = `INSERT INTO ${table} (session, ${columns.join(", ")})
      SELECT ?1, ${columns.map((_, index) => `value ->> ${index}`).join(", ")} FROM json_each(?2)
      WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?1 AND generation = ?3 AND deleted_at IS NULL)
      ON CONFLICT DO NOTHING`;
    for (const { json, bytes } of statements(values)) {
      if (size + bytes > BATCH_BYTES && batch.length > 0) {
        await db.batch(batch);
        batch = [];
        size = 0;
      }
      batch.push(db.prepare(insert).bind(id, json, row.generation));
      size += bytes;
    }
  }
  const usage = countUsage(db, row, calls);
  if (usage !== null) batch.push(usage);
  const update = `UPDATE sessions SET title = ?4, mode = ?5, updated_at = ?6, entries = ?7, state = ?8, rev = ?3
    WHERE id = ?1 AND generation = ?2 AND deleted_at IS NULL AND rev < ?3`;
  const values = [id, row.generation, row.rev, row.title, row.mode, row.updated_at, row.last_seq];
  batch.push(db.prepare(update).bind(...values, JSON.stringify(state)));
  if (row.deferrals_rev > row.flushed_rev) {
    const deferrals = `UPDATE sessions SET tool_deferrals = ?
      WHERE id = ? AND generation = ? AND deleted_at IS NULL AND rev = ?`;
    batch.push(db.prepare(deferrals).bind(row.deferrals, id, row.generation, row.rev));
  }
  const ours = "SELECT 1 FROM sessions WHERE id = ? AND generation = ? AND deleted_at IS NULL";
  batch.push(db.prepare(ours).bind(id, row.generation));
  const results = await db.batch(batch);
  return (results.at(-1)?.results.length ?? 0) > 0;
}

/**
 * Leaves a tombstone (name, time, no content) in D1 and deletes the rest. `usage` counts, in the same batch, what the
 * record had not counted yet ({@link countUsage}).
 */
export async function entomb(
  db: D1Database,
  id: SessionId,
  now: number,
  usage: D1PreparedStatement | null = null,
): Promise<void> {
  const name = sessionName(id);
  // A replaced row keeps no column's content, whichever columns there are.
  const tombstone = `INSERT OR REPLACE INTO sessions
      (id, owner, agent, conversation, title, mode, created_at, updated_at, entries, generation, rev, state, deleted_at)
    VALUES (?, ?, ?, ?, '', '', 0, 0, 0, '', 0, '{}', ?)`;
  await db.batch([
    ...(usage === null ? [] : [usage]),
    db.prepare(tombstone).bind(name, id.owner, id.agent, id.conversation, now),
    ...COPIED.map(({ table }) => db.prepare(`DELETE FROM ${table} WHERE session = ?`).bind(name)),
    db
      .prepare("DELETE FROM transcripts WHERE owner = ? AND agent = ? AND conversation = ?")
      .bind(id.owner, id.agent, id.conversation),
  ]);
}

/** Rows as JSON lists of at most {@link STATEMENT_BYTES}. */
function* statements(rows: readonly unknown[][]): Generator<{ json: string; bytes: number }> {
  const encoder = new TextEncoder();
  let open: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    const length = encoder.encode(text).byteLength + 1;
    if (bytes + length > STATEMENT_BYTES && open.length > 0) {
      yield { json: `[${open.join(",")}]`, bytes };
      open = [];
      bytes = 0;
    }
    open.push(text);
    bytes += length;
  }
  if (open.length > 0) yield { json: `[${open.join(",")}]`, bytes };
}
