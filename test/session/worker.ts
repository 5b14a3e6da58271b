import { sessionClient } from "../../src/session/client.ts";
import type { AppendAnswer, AppendRequest, BeginAnswer, BeginRequest, SessionId } from "../../src/session/contract.ts";
import { SessionObject as Base } from "../../src/session/object.ts";

/** One call of a session, as the tests send it. */
export interface Ask {
  readonly id: SessionId;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Method = (...args: unknown[]) => Promise<unknown>;

/** The session's object, with what the tests look at and break. */
export class SessionObject extends Base {
  readonly #cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[];
  readonly #sql: SqlStorage;
  readonly #d1: { up: boolean; statements: string[] };
  #resets: "before" | "after" | null = null;

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
    const { sql } = ctx.storage;
    const exec = sql.exec.bind(sql);
    sql.exec = <T extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]) => {
      const cursor = exec<T>(query, ...bindings);
      cursors.push(cursor as SqlStorageCursor<Record<string, SqlStorageValue>>);
      return cursor;
    };
    const d1 = { up: true, statements: [] as string[] };
    super(ctx, { ...env, DB: watched(env.DB, d1) });
    this.#cursors = cursors;
    this.#sql = sql;
    this.#d1 = d1;
  }

  /** Rows written since the last time this or {@link read} was asked. */
  async written(): Promise<number> {
    const written = this.#cursors.reduce((sum, cursor) => sum + cursor.rowsWritten, 0);
    this.#cursors.length = 0;
    return written;
  }

  /** Rows read since the last time this or {@link written} was asked. */
  async read(): Promise<number> {
    const read = this.#cursors.reduce((sum, cursor) => sum + cursor.rowsRead, 0);
    this.#cursors.length = 0;
    return read;
  }

  /** Takes D1 down or up again. */
  async d1(up: boolean): Promise<void> {
    this.#d1.up = up;
  }

  /** Statements sent to D1 so far. */
  async statements(): Promise<string[]> {
    return this.#d1.statements;
  }

  async tables(): Promise<unknown[]> {
    return this.#sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray();
  }

  async longestText(): Promise<unknown> {
    return this.#sql.exec("SELECT max(length(CAST(text AS BLOB))) AS bytes, count(*) AS parts FROM entries").one();
  }

  async reset(): Promise<void> {
    this.ctx.abort("reset by a test");
  }

  /** Resets the object within its next `begin` or `append`, before or after that did its work. */
  async resetWithin(when: "before" | "after"): Promise<void> {
    this.#resets = when;
  }

  override begin(request: BeginRequest): Promise<BeginAnswer> {
    return this.#within(() => super.begin(request));
  }

  override append(request: AppendRequest): Promise<AppendAnswer> {
    return this.#within(() => super.append(request));
  }

  async #within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#resets === "before") this.ctx.abort("reset by a test");
    const answer = await work();
    if (this.#resets === "after") {
      await this.ctx.storage.sync();
      this.ctx.abort("reset by a test");
    }
    return answer;
  }
}

function watched(db: D1Database, state: { up: boolean; statements: string[] }): D1Database {
  const check = () => {
    if (!state.up) throw new Error("D1 is down");
  };
  return new Proxy(db, {
    get(target, name) {
      if (name === "prepare") {
        return (query: string) => {
          state.statements.push(query);
          return target.prepare(query);
        };
      }
      if (name === "batch" || name === "withSession") {
        return (...args: never[]) => {
          check();
          return (target[name] as (...args: never[]) => unknown).apply(target, args);
        };
      }
      return Reflect.get(target, name, target);
    },
  });
}

export default {
  async fetch(request: Request, env: Cloudflare.Env): Promise<Response> {
    const { id, method, args }: Ask = await request.json();
    const client = sessionClient(env, id) as unknown as Record<string, Method | undefined>;
    const stub = env.SESSIONS.getByName(JSON.stringify([id.owner, id.agent, id.conversation]));
    const target = method in client ? client : (stub as unknown as Record<string, Method | undefined>);
    try {
      return Response.json({ answer: (await target[method]?.(...args)) ?? null });
    } catch (error) {
      const { message } = error as Error;
      return Response.json({ error: message }, { status: 500 });
    }
  },
} satisfies ExportedHandler<Cloudflare.Env>;
