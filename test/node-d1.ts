import type { DatabaseSync, SQLInputValue } from "node:sqlite";

type Value = string | number | boolean | null;

/** D1 over Node's own SQLite: what the code uses of its API, with the same SQL and the same transactions. */
export function nodeD1(db: DatabaseSync): D1Database {
  class Statement {
    readonly #query: string;
    readonly #values: readonly SQLInputValue[];

    constructor(query: string, values: readonly SQLInputValue[] = []) {
      this.#query = query;
      this.#values = values;
    }

    bind(...values: Value[]): Statement {
      return new Statement(this.#query, values.map(sqlValue));
    }

    run() {
      const before = changes();
      const results = db.prepare(this.#query).all(...this.#values);
      return { success: true, results, meta: { changes: changes() - before } };
    }

    async all() {
      return this.run();
    }

    async first(column?: string) {
      const [row = null] = this.run().results;
      return row === null || column === undefined ? row : row[column];
    }
  }

  function changes(): number {
    return Number(db.prepare("SELECT total_changes() AS changes").get()?.changes);
  }

  const d1 = {
    prepare: (query: string) => new Statement(query),
    async batch(statements: readonly Statement[]) {
      db.exec("BEGIN");
      try {
        const results = statements.map((statement) => statement.run());
        db.exec("COMMIT");
        return results;
      } catch (error) {
        db.exec("ROLLBACK");
        throw error;
      }
    },
    withSession: () => d1,
  };
  return d1 as unknown as D1Database;
}

/** What D1 binds a value as. It refuses all that is none of these, `undefined` first of all. */
function sqlValue(value: Value): SQLInputValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  throw new Error(`D1_TYPE_ERROR: Type '${typeof value}' not supported`);
}
