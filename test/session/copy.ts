import { expect } from "vitest";
import type { SessionId } from "../../src/session/contract.ts";
import { sessionName } from "../../src/session/name.ts";

type Row = Record<string, unknown>;

/** The object's tables that D1 has no copy of: its own row (compared by columns), and what belongs to this object alone. */
const NOT_COPIED = ["deliveries", "keys", "session", "timers", "schema_version"];

/** Columns of the object's own row that the record lacks: the lease, the attempt that holds it, and what was flushed. */
const NOT_RECORDED = [
  ...[
    "id",
    "deferrals_rev",
    "fence",
    "cancel",
    "attempt",
    "sent_before",
    "handed",
    "wire_before",
    "resumed",
    "last_append",
  ],
  ...["flushed_rev", "flushed_seq", "recorded_rev", "refused", "admitted", "deleted_at"],
];

/**
 * Every row and column of a session's object is in D1 as it is in the object, and D1 has nothing else of it. `query` runs
 * a statement on the object's storage. A table or column that the copy does not know fails too.
 */
export async function expectCopied(
  db: D1Database,
  id: SessionId,
  query: (statement: string) => Promise<Row[]>,
): Promise<void> {
  const name = sessionName(id);
  const tables = await query(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
  );
  for (const { name: table } of tables) {
    if (NOT_COPIED.includes(String(table))) continue;
    const copied = await db.prepare(`SELECT * FROM ${table} WHERE session = ?`).bind(name).all<Row>();
    const here = sorted(await query(`SELECT * FROM ${table}`));
    const there = sorted(copied.results.map(({ session: _, ...row }) => row));
    expect(there.length, `rows of ${table}`).toBe(here.length);
    expect(there, `rows of ${table}`).toEqual(here);
  }

  const [row = {}] = await query("SELECT * FROM session");
  const record = await db.prepare("SELECT * FROM sessions WHERE id = ?").bind(name).first<Row>();
  const { state, id: _, entries, tool_deferrals, deleted_at, bytes, ...columns } = record ?? {};
  const there = { ...columns, ...JSON.parse(String(state)), last_seq: entries, deferrals: tool_deferrals };
  expect(there).toEqual(Object.fromEntries(Object.entries(row).filter(([column]) => !NOT_RECORDED.includes(column))));
  expect(deleted_at).toBeNull();
  expect(bytes).toBeGreaterThan(0);
  await expectSummed(db, id.owner);
}

/** The sums of an owner are those of the sessions that D1 has, as far as they were measured. */
export async function expectSummed(db: D1Database, owner: string): Promise<void> {
  const counted = `SELECT count(*) AS sessions, coalesce(sum(bytes), 0) AS bytes FROM sessions
    WHERE owner = ? AND deleted_at IS NULL AND bytes > 0`;
  const sums = await db.prepare("SELECT sessions, bytes FROM owners WHERE owner = ?").bind(owner).first();
  expect(sums, `sums of ${owner}`).toEqual(await db.prepare(counted).bind(owner).first());
}

function sorted(rows: readonly Row[]): string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort();
}
