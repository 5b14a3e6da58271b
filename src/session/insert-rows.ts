import type { CopiedTable, Key } from "./store.ts";

/** Rows of one growing table on their way to D1, as many as one statement takes. */
export interface Rows {
  readonly of: CopiedTable;
  /** Each with its key, and its values as JSON. */
  readonly rows: readonly { readonly key: Key; readonly json: string }[];
  /** Of the JSON of all of them. */
  readonly bytes: number;
}

/** Names one row: its table, then the values of its key. */
export type RowName = readonly [table: string, ...key: SqlStorageValue[]];

/** Whose record takes rows, and under which generation. */
export interface Guard {
  readonly session: string;
  readonly generation: string;
}

/** A D1 that refuses more rows than this of one session refuses no rows: it is out of order. */
export const REFUSED_AT_MOST = 16;

/** Statements that take rows while the record is of that generation and not deleted, and leave alone what is there. */
export function insertsOf(db: D1Database, { session, generation }: Guard, all: readonly Rows[]): D1PreparedStatement[] {
  return all.map(({ of: { table, columns }, rows }) => {
    const insert = `INSERT INTO ${table} (session, ${columns.join(", ")})
      SELECT ?1, ${columns.map((_, index) => `value ->> ${index}`).join(", ")} FROM json_each(?2)
      WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?1 AND generation = ?3 AND deleted_at IS NULL)
      ON CONFLICT DO NOTHING`;
    return db.prepare(insert).bind(session, `[${rows.map(({ json }) => json).join(",")}]`, generation);
  });
}

/**
 * Inserts each of `all` by itself, and halves what fails until single rows are left: those, `most` of them, are answered
 * as refused, and all others are in. Throws `error`, with which they failed together, when D1 takes nothing else either.
 */
export async function takeApart(
  db: D1Database,
  guard: Guard,
  all: readonly Rows[],
  most: number,
  error: unknown,
): Promise<RowName[]> {
  const refused: RowName[] = [];
  const waiting = [...all];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { of, rows } = next;
    try {
      await db.batch(insertsOf(db, guard, [next]));
    } catch {
      if (refused.length >= most || !(await takesWrites(db, guard))) throw error;
      const half = Math.ceil(rows.length / 2);
      if (rows.length > 1) waiting.unshift({ ...next, rows: rows.slice(0, half) }, { ...next, rows: rows.slice(half) });
      else refused.push(...rows.map(({ key }): RowName => [of.table, ...key]));
    }
  }
  return refused;
}

/** Whether D1 takes a write that changes nothing. One that is down, or full, does not. */
async function takesWrites(db: D1Database, { session, generation }: Guard): Promise<boolean> {
  const same = "UPDATE sessions SET generation = generation WHERE id = ? AND generation = ?";
  try {
    await db.prepare(same).bind(session, generation).run();
    return true;
  } catch {
    return false;
  }
}
