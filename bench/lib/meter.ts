/** What a bench worker counts, in the isolate that counts it. Isolates of their own have counts of their own. */
export interface Tally {
  /** Calls of the object by method, and the bytes (as JSON) that went to it and came back. */
  readonly calls: Record<string, number>;
  sent: number;
  received: number;
  /** Rows written by the object's SQL cursors. */
  readonly rows: number;
  /** D1 statements, by who sent them. */
  readonly d1: { worker: number; object: number };
}

/** Milliseconds that are put before each object call and each D1 statement. */
export interface Delays {
  object: number;
  d1: number;
}

type Method = (...args: unknown[]) => Promise<unknown>;
type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>;

export const delays: Delays = { object: 0, d1: 0 };
let tally = empty();

/** What was counted since this was last asked; `rows` as the object's own {@link meterSql} counted them. */
export function takeTally(rows: number): Tally {
  const taken = { ...tally, rows };
  tally = empty();
  return taken;
}

/** The bindings, with every call of an object and every D1 statement counted and delayed. */
export function metered(env: Cloudflare.Env): Cloudflare.Env {
  const getByName = (name: string) => stubOf(env.SESSIONS.getByName(name) as unknown as Record<string, Method>);
  return { ...env, SESSIONS: { getByName } as unknown as Cloudflare.Env["SESSIONS"], DB: meteredD1(env.DB, "worker") };
}

function stubOf(stub: Record<string, Method>): object {
  return new Proxy(stub, {
    get: (target, method: string) =>
      async function call(...args: unknown[]): Promise<unknown> {
        if (delays.object > 0) await sleep(delays.object);
        const answer = await target[method]?.(...args);
        tally.calls[method] = (tally.calls[method] ?? 0) + 1;
        tally.sent += size(args);
        tally.received += size(answer);
        return answer;
      },
  });
}

/** A database whose statements are counted and delayed. */
export function meteredD1(db: D1Database, by: keyof Tally["d1"]): D1Database {
  return new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name === "prepare") return (query: string) => slow(target.prepare(query), () => (tally.d1[by] += 1));
      if (name !== "batch") return value.bind(target);
      return async (statements: D1PreparedStatement[]) => {
        if (delays.d1 > 0) await sleep(delays.d1);
        tally.d1[by] += statements.length;
        return target.batch(statements.map((one) => originals.get(one) ?? one));
      };
    },
  });
}

const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();

function slow(statement: D1PreparedStatement, ran: () => void): D1PreparedStatement {
  const proxy = new Proxy(statement, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name === "bind") return (...values: unknown[]) => slow(target.bind(...values), ran);
      return async (...args: unknown[]) => {
        if (delays.d1 > 0) await sleep(delays.d1);
        ran();
        return value.apply(target, args);
      };
    },
  });
  originals.set(proxy, statement);
  return proxy;
}

/** Counts the rows that an object's SQL writes; the answer gives those since it was last asked. To be asked in the object. */
export function meterSql(sql: SqlStorage): () => number {
  let cursors: Cursor[] = [];
  const exec = sql.exec.bind(sql);
  sql.exec = <T extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
    const cursor = exec<T>(query, ...bindings);
    cursors.push(cursor as unknown as Cursor);
    return cursor;
  };
  return () => {
    const rows = cursors.reduce((sum, cursor) => sum + cursor.rowsWritten, 0);
    cursors = [];
    return rows;
  };
}

function empty(): Tally {
  return { calls: {}, sent: 0, received: 0, rows: 0, d1: { worker: 0, object: 0 } };
}

function size(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
