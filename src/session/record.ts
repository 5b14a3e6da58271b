import { releaseOf } from "./admission.ts";
import type { SessionId } from "./contract.ts";
import { type Guard, insertsOf, REFUSED_AT_MOST, type RowName, type Rows, takeApart } from "./insert-rows.ts";
import { sessionName } from "./name.ts";
import { countSession, uncountSession } from "./owner-sums.ts";
import type { SessionRow } from "./store.ts";
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
  { table: "tasks", columns: ["rev", "task", "part", "state", "at", "text"], key: 3 },
  { table: "pushes", columns: ["rev", "task", "id", "text"], key: 3 },
  { table: "blobs", columns: ["hash", "part", "rev", "media", "text"], key: 2 },
] as const;

/**
 * What column `state` of D1's `sessions` holds, as JSON: the rest of what a rebuild needs. Without `cuts` all entries are
 * read until the next rewind; without `forks` their titles count from the start again. `refused`: rows that the record
 * lacks; absent where it is whole.
 */
export type RecordState = Partial<
  Pick<SessionRow, "cuts" | "forks" | "keep_ms" | "asked" | "body" | "began_at" | "ended">
> & {
  readonly refused?: readonly RowName[];
} & Pick<
    SessionRow,
    "sent_through" | "wire" | "status" | "turn" | "user_seq" | "refused_from" | "step" | "attempts" | "lease_seconds"
  >;

/** What of a session is not in D1 yet, as far as one copy goes. */
export interface Unflushed {
  readonly row: SessionRow;
  /** The rows are those of the revisions through this one. Below the session's own the record's row does not follow yet. */
  readonly through: number;
  /** Taken a batch at a time. */
  readonly rows: Iterable<Rows>;
  /** The model calls that the record has not counted, to be added to their owner's sums. Taken with the record's row. */
  readonly calls: Iterable<Uncounted>;
  /** That the session takes in its object. */
  readonly bytes: number;
}

/** How a copy came out. */
export interface Copied {
  /** False: the record is no longer this object's, and nothing was changed. */
  readonly ours: boolean;
  /** Rows that D1 does not take, though it takes others. */
  readonly refused: readonly RowName[];
  /** Statements that it took. */
  readonly statements: number;
}

/** A batch takes at most this much of rows, in bytes. */
const BATCH_BYTES = 8_000_000;

/**
 * Copies to D1 what is not there yet. A guard in each statement keeps a late copy from doing harm: rows are taken only
 * while the session's record is of the same generation and not deleted, its own row only if its revision rises. So a
 * repeat changes nothing, and after a rebuild or a deletion nothing does. Column `tool_deferrals` has a statement of
 * its own, which is sent only when the deferrals changed.
 *
 * One row that D1 does not take fails its whole batch: that batch is then taken apart, and what is left over is answered
 * as refused. Throws when D1 itself fails: then nothing of this copy counts.
 */
export async function copyToRecord(db: D1Database, { row, through, rows, calls, bytes }: Unflushed): Promise<Copied> {
  const guard: Guard = { session: sessionName(row), generation: row.generation };
  const refused: RowName[] = [];
  let head = row.recorded_rev === 0 ? headOf(db, guard.session, row) : [];
  let inserts: Rows[] = [];
  let size = 0;
  let statements = 0;

  const send = async (tail: (refused: readonly RowName[]) => D1PreparedStatement[]) => {
    const prepared = insertsOf(db, guard, inserts);
    const whole = [...head, ...prepared, ...tail(refused)];
    statements += whole.length;
    try {
      return await db.batch(whole);
    } catch (error) {
      if (prepared.length === 0) throw error;
      if (head.length > 0) await db.batch(head);
      const most = REFUSED_AT_MOST - refusedRows(row).length - refused.length;
      refused.push(...(await takeApart(db, guard, inserts, most, error)));
      const rest = tail(refused);
      return rest.length === 0 ? [] : await db.batch(rest);
    } finally {
      head = [];
      inserts = [];
      size = 0;
    }
  };

  for (const some of rows) {
    if (size + some.bytes > BATCH_BYTES && inserts.length > 0) await send(() => []);
    inserts.push(some);
    size += some.bytes;
  }
  const last = through >= row.rev;
  const results = await send((refused) => [
    ...(last ? [...countUsage(db, row, calls), ...recordOf(db, guard.session, row, bytes, refused)] : []),
    db
      .prepare("SELECT 1 FROM sessions WHERE id = ? AND generation = ? AND deleted_at IS NULL")
      .bind(guard.session, row.generation),
  ]);
  return { ours: (results.at(-1)?.results.length ?? 0) > 0, refused, statements };
}

/** The record of a session that D1 has none of yet: at revision 0 it has nothing to be rebuilt from. */
function headOf(db: D1Database, id: string, row: SessionRow): D1PreparedStatement[] {
  const head = `INSERT INTO sessions
      (id, owner, agent, conversation, title, mode, created_at, updated_at, entries, generation, rev, state)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?) ON CONFLICT DO NOTHING`;
  const { owner, agent, conversation, title, mode, created_at, updated_at, generation } = row;
  const values = [id, owner, agent, conversation, title, mode, created_at, updated_at, generation];
  const statements = [db.prepare(head).bind(...values, JSON.stringify(stateOf(row, [])))];
  if (row.forked_from !== null) {
    const lineage = "UPDATE sessions SET forked_from = ?, forked_at = ? WHERE id = ? AND generation = ? AND rev = 0";
    statements.push(db.prepare(lineage).bind(row.forked_from, row.forked_at, id, generation));
  }
  if (row.parent !== null) {
    const above = "UPDATE sessions SET parent = ? WHERE id = ? AND generation = ? AND rev = 0";
    statements.push(db.prepare(above).bind(row.parent, id, generation));
  }
  return statements;
}

/** The record's own row, once all rows of its revision are there. */
function recordOf(
  db: D1Database,
  id: string,
  row: SessionRow,
  bytes: number,
  refused: readonly RowName[],
): D1PreparedStatement[] {
  const update = `UPDATE sessions SET title = ?4, mode = ?5, updated_at = ?6, entries = ?7, state = ?8, rev = ?3, bytes = ?9
    WHERE id = ?1 AND generation = ?2 AND deleted_at IS NULL AND rev < ?3`;
  const values = [id, row.generation, row.rev, row.title, row.mode, row.updated_at, row.last_seq];
  const state = JSON.stringify(stateOf(row, [...refusedRows(row), ...refused]));
  const statements = [countSession(db, row, bytes), db.prepare(update).bind(...values, state, bytes)];
  if (row.status !== "running") statements.push(...releaseOf(db, row));
  if (row.deferrals_rev > row.recorded_rev) {
    const deferrals = `UPDATE sessions SET tool_deferrals = ?
      WHERE id = ? AND generation = ? AND deleted_at IS NULL AND rev = ?`;
    statements.push(db.prepare(deferrals).bind(row.deferrals, id, row.generation, row.rev));
  }
  return statements;
}

/** Says in the record which rows it lacks now; none makes it whole. */
export async function recordRefused(db: D1Database, row: SessionRow, refused: readonly RowName[]): Promise<void> {
  const state = refused.length === 0 ? "json_remove(state, '$.refused')" : "json_set(state, '$.refused', json(?3))";
  const update = `UPDATE sessions SET state = ${state} WHERE id = ?1 AND generation = ?2 AND deleted_at IS NULL`;
  const values = [sessionName(row), row.generation, ...(refused.length === 0 ? [] : [JSON.stringify(refused)])];
  await db
    .prepare(update)
    .bind(...values)
    .run();
}

/** The rows that D1 refused so far. */
export function refusedRows({ refused }: Pick<SessionRow, "refused">): RowName[] {
  const rows: RowName[] = JSON.parse(refused);
  return rows;
}

function stateOf(row: SessionRow, refused: readonly RowName[]): RecordState {
  return {
    sent_through: row.sent_through,
    cuts: row.cuts,
    forks: row.forks,
    keep_ms: row.keep_ms,
    wire: row.wire,
    status: row.status,
    turn: row.turn,
    user_seq: row.user_seq,
    refused_from: row.refused_from,
    step: row.step,
    attempts: row.attempts,
    lease_seconds: row.lease_seconds,
    ...(refused.length === 0 ? {} : { refused }),
    asked: row.asked,
    body: row.body,
    began_at: row.began_at,
    ended: row.ended,
  };
}

/**
 * Leaves a tombstone (name, time, no content) in D1 and deletes the rest. `usage` counts, in the same batch, what the
 * record had not counted yet ({@link countUsage}).
 */
export async function entomb(
  db: D1Database,
  id: SessionId,
  now: number,
  usage: readonly D1PreparedStatement[] = [],
): Promise<void> {
  const name = sessionName(id);
  // A replaced row keeps no column's content, whichever columns there are.
  const tombstone = `INSERT OR REPLACE INTO sessions
      (id, owner, agent, conversation, title, mode, created_at, updated_at, entries, generation, rev, state, deleted_at)
    VALUES (?, ?, ?, ?, '', '', 0, 0, 0, '', 0, '{}', ?)`;
  await db.batch([
    ...usage,
    uncountSession(db, id.owner, name),
    db.prepare(tombstone).bind(name, id.owner, id.agent, id.conversation, now),
    ...COPIED.map(({ table }) => db.prepare(`DELETE FROM ${table} WHERE session = ?`).bind(name)),
    db
      .prepare("DELETE FROM transcripts WHERE owner = ? AND agent = ? AND conversation = ?")
      .bind(id.owner, id.agent, id.conversation),
    db
      .prepare("DELETE FROM requests WHERE owner = ? AND agent = ? AND conversation = ?")
      .bind(id.owner, id.agent, id.conversation),
  ]);
}
