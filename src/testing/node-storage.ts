import { DatabaseSync, type StatementSync } from "node:sqlite";

/** The parts of a Durable Object's storage that a session uses, over Node's own SQLite, in memory unless `db` says else. */
export function nodeStorage(db = new DatabaseSync(":memory:")): DurableObjectStorage {
  const statements = new Map<string, StatementSync>();
  const prepared = (query: string) => {
    const known = statements.get(query) ?? db.prepare(query);
    statements.set(query, known);
    return known;
  };
  const pragma = (name: string) => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
  const sql = {
    get databaseSize() {
      return pragma("page_count") * pragma("page_size");
    },
    exec(query: string, ...bindings: (string | number | null)[]) {
      const rows = prepared(query).all(...bindings);
      return {
        toArray: () => rows,
        one() {
          if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
          return rows[0];
        },
        raw: () => rows.map((row) => Object.values(row)),
        [Symbol.iterator]: () => rows[Symbol.iterator](),
      };
    },
  };
  const storage = {
    sql,
    transactionSync<T>(work: () => T): T {
      // A savepoint outside of a transaction begins one, and transactions of an object may be nested.
      db.exec("SAVEPOINT work");
      try {
        const result = work();
        db.exec("RELEASE work");
        return result;
      } catch (error) {
        db.exec("ROLLBACK TO work; RELEASE work");
        throw error;
      }
    },
    async deleteAlarm() {},
    async deleteAll() {
      const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
      for (const { name } of tables) db.exec(`DROP TABLE "${String(name)}"`);
      statements.clear();
    },
  };
  return storage as unknown as DurableObjectStorage;
}
