import type { SessionId } from "./contract.ts";
import type { RowName } from "./insert-rows.ts";
import { sessionName } from "./name.ts";
import { COPIED, type RecordState } from "./record.ts";
import { firstFence } from "./start.ts";
import type { SessionRow, Store } from "./store.ts";

/** What D1 knows of a session whose object is empty. */
export type Look = "rebuilt" | "gone" | "none";

/** Rows are read this many at a time: of the largest, half a megabyte each, a page is then 32 MB, and D1 answers 50. */
const PAGE_ROWS = 64;

/** Where they are small, more: D1 takes 1,000 statements an invocation, so pages of 64 would end at 64,000 rows. */
const MOST_ROWS = 2_048;

/** A page of less than this, in characters, is followed by one of twice as many rows. */
const SMALL_PAGE = 1_000_000;

type SessionRecord = Pick<
  SessionRow,
  "title" | "mode" | "created_at" | "updated_at" | "rev" | "forked_from" | "forked_at" | "parent"
> & {
  readonly entries: number;
  readonly state: string;
  readonly tool_deferrals: string | null;
};

type Row = Record<string, SqlStorageValue>;

/**
 * Asks D1, the primary, for a session whose object is empty, and reads it back if it is there, so that the next request
 * extends the last byte for byte. The record takes a new generation before it is read, so that nothing an older object
 * of that name still has under way counts any more. Throws when D1 does, and where the record is not whole; what was
 * read by then does no harm.
 */
export async function rebuild(database: D1Database, store: Store, id: SessionId): Promise<Look> {
  const db = database.withSession("first-primary");
  const name = sessionName(id);
  const found = await db
    .prepare("SELECT deleted_at, state ->> '$.refused' AS refused FROM sessions WHERE id = ?")
    .bind(name)
    .first<{ deleted_at: number | null; refused: string | null }>();
  if (found === null) return "none";
  if (found.deleted_at !== null) return "gone";
  await mustBeWhole(db, name, found.refused);

  const generation = crypto.randomUUID();
  const claimed = await db.batch<SessionRecord>([
    db
      .prepare("UPDATE sessions SET generation = ?2 WHERE id = ?1 AND deleted_at IS NULL RETURNING *")
      .bind(name, generation),
    // Rows of a copy that did not come to its end.
    ...COPIED.map(({ table }) =>
      db
        .prepare(`DELETE FROM ${table} WHERE session = ?1 AND rev > (SELECT rev FROM sessions WHERE id = ?1)`)
        .bind(name),
    ),
  ]);
  const record = claimed[0]?.results[0];
  if (record === undefined) return "gone";

  store.prepare();
  for (const copied of COPIED) await readBack(db, store, name, copied);
  const state: RecordState = JSON.parse(record.state);
  const { title, mode, created_at, updated_at, rev, entries, forked_from, forked_at, parent } = record;
  store.create({
    ...{ owner: id.owner, agent: id.agent, conversation: id.conversation },
    ...{ title, mode, created_at, updated_at, rev, generation },
    ...{ deferrals: record.tool_deferrals, deferrals_rev: rev, last_seq: entries },
    ...{
      sent_through: state.sent_through,
      cuts: state.cuts ?? "[]",
      wire: state.wire,
      wire_before: state.wire,
      status: state.status,
      turn: state.turn,
      user_seq: state.user_seq,
    },
    ...{
      refused_from: state.refused_from,
      step: state.step,
      attempts: state.attempts,
      lease_seconds: state.lease_seconds,
    },
    ...{ fence: firstFence(), cancel: 0, attempt: "", sent_before: state.sent_through, resumed: 0, last_append: "" },
    ...{
      flushed_rev: rev,
      flushed_seq: entries,
      recorded_rev: rev,
      refused: "[]",
      admitted: "[]",
      deleted_at: null,
      handed: 0,
    },
    ...{
      forks: state.forks ?? 0,
      forked_from: forked_from ?? null,
      forked_at: forked_at ?? null,
      parent: parent ?? null,
      keep_ms: state.keep_ms ?? null,
    },
    ...{
      asked: state.asked ?? "",
      body: state.body ?? "",
      began_at: state.began_at ?? 0,
      ended: state.ended ?? "",
    },
  });
  return "rebuilt";
}

/** A session with holes would go on with another prefix and another history, and nobody would know. */
async function mustBeWhole(db: D1DatabaseSession, session: string, refused: string | null): Promise<void> {
  const rows: RowName[] = JSON.parse(refused ?? "[]");
  for (const [table, ...at] of rows) {
    const copied = COPIED.find((copied) => copied.table === table);
    const where = copied?.columns.slice(0, copied.key).map((column) => `AND ${column} = ?`) ?? [];
    const query = `SELECT 1 FROM ${copied?.table} WHERE session = ? ${where.join(" ")}`;
    // One that was put in by hand is there.
    if (
      copied !== undefined &&
      (await db
        .prepare(query)
        .bind(session, ...at)
        .first()) !== null
    )
      continue;
    throw new Error(`the record lacks a row that D1 refused: ${table} ${at.join(" ")}`);
  }
}

async function readBack(
  db: D1DatabaseSession,
  store: Store,
  session: string,
  { table, columns, key }: (typeof COPIED)[number],
): Promise<void> {
  const keys = columns.slice(0, key);
  const order = keys.join(", ");
  let last: readonly SqlStorageValue[] | null = null;
  let most = PAGE_ROWS;
  for (;;) {
    const rows: Row[] | null = await pageAfter(last, most).catch((error: unknown) => {
      if (most === PAGE_ROWS) throw error;
      return null;
    });
    if (rows === null) {
      // Small rows were followed by large ones.
      most = PAGE_ROWS;
      continue;
    }
    store.transaction(() => {
      for (const row of rows) store.insert(table, row);
    });
    const newest = rows.at(-1);
    if (newest === undefined || rows.length < most) return;
    most = sizeOf(rows) < SMALL_PAGE ? Math.min(2 * most, MOST_ROWS) : PAGE_ROWS;
    last = keys.map((column) => newest[column] ?? null);
  }

  async function pageAfter(last: readonly SqlStorageValue[] | null, most: number): Promise<Row[]> {
    const after = last === null ? "" : `AND (${order}) > (${keys.map(() => "?").join(", ")})`;
    const query = `SELECT ${columns.join(", ")} FROM ${table} WHERE session = ? ${after} ORDER BY ${order} LIMIT ?`;
    const bound = db.prepare(query).bind(session, ...(last ?? []), most);
    return (await bound.all<Row>()).results;
  }
}

function sizeOf(rows: readonly Row[]): number {
  return rows.flatMap(Object.values).reduce((sum, value) => sum + (typeof value === "string" ? value.length : 8), 0);
}
