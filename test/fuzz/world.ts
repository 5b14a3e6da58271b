import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Session } from "../../src/session/session.ts";
import { nodeStorage } from "../../src/testing/node-storage.ts";
import { hostOf } from "../../src/turn/hosts.ts";
import { goOnWith } from "../../src/turn/start.ts";
import { nodeD1 } from "../node-d1.ts";
import { fuzzed, SECRET } from "./fuzzed.ts";
import type { Sent } from "./request.ts";
import { KNOWN } from "./surfaces.ts";

declare module "node:sqlite" {
  interface DatabaseSync {
    serialize(): Uint8Array;
    deserialize(database: Uint8Array): void;
  }
}

/** Everything stored: the bytes of D1, and those of each object by its name. */
export interface Stored {
  readonly d1: Uint8Array;
  readonly objects: ReadonlyMap<string, Uint8Array>;
}

/** What every world begins with, and what is taken out of it. */
export interface Beginning extends Stored {
  /** The conversation that is there, as `…/export` answers it. */
  readonly exported: unknown;
  /** The id of a task that is over. */
  readonly task: string;
}

/**
 * The whole worker in this process: the real routes, turns and sessions over Node's SQLite, and the emulator's rules as
 * the model. It stands on what is `stored`.
 */
export class World {
  readonly #worker: ReturnType<typeof fuzzed>;
  readonly #db = new DatabaseSync(":memory:");
  readonly #objects = new Map<string, { readonly db: DatabaseSync; readonly session: Session }>();
  readonly #work: Promise<unknown>[] = [];
  /** What was written to each database before its world was made. */
  readonly #made = new Map<DatabaseSync, string>();
  readonly #stored: ReadonlyMap<string, Uint8Array>;

  constructor(stored: Stored | null, worker = fuzzed()) {
    this.#worker = worker;
    if (stored === null) this.#migrate();
    else this.#db.deserialize(stored.d1);
    this.#stored = stored?.objects ?? new Map();
    this.#made.set(this.#db, writesOf(this.#db));
    for (const name of this.#stored.keys()) this.#object(name);
  }

  get routes(): { readonly method: string; readonly path: string }[] {
    const routes = this.#worker.app.routes.filter(
      ({ method, path }) => method !== "ALL" && !path.startsWith("/agents/:name/"),
    );
    return [...new Map(routes.map(({ method, path }) => [`${method} ${path}`, { method, path }])).values()];
  }

  async fetch({ method, path, headers, body }: Sent): Promise<Response> {
    const bodiless = body === null || method === "GET" || method === "HEAD";
    const request = new Request(new URL(path, "http://localhost"), {
      method,
      headers: { authorization: `Bearer ${SECRET}`, ...headers },
      ...(bodiless ? {} : { body: typeof body === "string" ? body : Buffer.from(body) }),
    });
    const { app } = this.#worker;
    return app.fetch(request, this.#env as unknown as Cloudflare.Env, this.#ctx as unknown as ExecutionContext);
  }

  get #env() {
    return {
      HOLDFAST_API_KEYS: `ann:${SECRET}`,
      DB: nodeD1(this.#db),
      SESSIONS: { getByName: (name: string) => overRpc(this.#object(name).session) },
    };
  }

  get #ctx() {
    return { waitUntil: (work: Promise<unknown>) => void this.#work.push(work), props: {} };
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    while (this.#work.length > 0) await Promise.allSettled(this.#work.splice(0));
  }

  stored(): Stored {
    return {
      d1: this.#db.serialize(),
      objects: new Map([...this.#objects].map(([name, { db }]) => [name, db.serialize()])),
    };
  }

  /** Whether anything was written since the world was made, be it written back. {@link rows} says what. */
  get touched(): boolean {
    return [...this.#made].some(([db, made]) => writesOf(db) !== made);
  }

  /** Every row of every table, as text that can be compared. An object without a table is none. */
  rows(): string {
    const names = [...this.#objects.keys()].sort();
    const objects = names.map((name) => ({ name, tables: tables(this.#object(name).db) }));
    return JSON.stringify([tables(this.#db), objects.filter(({ tables }) => tables.length > 0)]);
  }

  #object(name: string): { readonly db: DatabaseSync; readonly session: Session } {
    let object = this.#objects.get(name);
    if (object === undefined) {
      const db = new DatabaseSync(":memory:");
      const stored = this.#stored.get(name);
      if (stored !== undefined) db.deserialize(stored);
      const session = new Session({
        storage: nodeStorage(db),
        db: nodeD1(this.#db),
        name,
        waitUntil: (work) => void this.#work.push(work),
        setAlarm: async () => {},
        run: async (job) => {
          const host = hostOf(job.id.agent);
          if (host === null) throw new Error(`there is no agent ${job.id.agent}`);
          await goOnWith(host, this.#env as unknown as Cloudflare.Env, this.#ctx, job);
        },
        now: Date.now,
      });
      object = { db, session };
      this.#objects.set(name, object);
      this.#made.set(db, writesOf(db));
    }
    return object;
  }

  #migrate(): void {
    const folder = resolve(import.meta.dirname, "../../migrations");
    for (const file of readdirSync(folder).sort()) this.#db.exec(readFileSync(join(folder, file), "utf8"));
  }
}

/** What every world begins with: a conversation of two turns, one with a tool, and one that was deleted. */
export async function firstStored(): Promise<Beginning> {
  const world = new World(null);
  const ask = async (id: string, content: string) => {
    const response = await world.fetch({
      method: "POST",
      path: "/v1/chat/completions",
      headers: { "content-type": "application/json", "x-conversation-id": id },
      body: JSON.stringify({ messages: [{ role: "user", content }] }),
    });
    if (response.status !== 200) throw new Error(`the world can't begin: ${await response.text()}`);
    await response.text();
  };
  await ask(KNOWN, "use a tool");
  await ask(KNOWN, "thanks");
  await ask("gone", "forget me");
  await world.fetch({ method: "DELETE", path: "/api/sessions/gone", headers: {}, body: null });
  const sent = await world.fetch({
    method: "POST",
    path: "/message:send",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({
      message: { messageId: "first", contextId: "tasked", role: "ROLE_USER", parts: [{ text: "do it" }] },
    }),
  });
  const { task }: { task: { id: string } } = await sent.json();
  await world.settled();
  const taken = await world.fetch({ method: "GET", path: `/api/sessions/${KNOWN}/export`, headers: {}, body: null });
  return { ...world.stored(), exported: await taken.json(), task: task.id };
}

/** How many rows were written, and how often the tables were changed. */
function writesOf(db: DatabaseSync): string {
  const { rows } = db.prepare("SELECT total_changes() AS rows").get() ?? {};
  return `${rows}/${db.prepare("PRAGMA schema_version").get()?.schema_version}`;
}

function tables(db: DatabaseSync): unknown[] {
  const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
  return names.map(({ name }) => [name, db.prepare(`SELECT * FROM "${String(name)}"`).all()]);
}

/** The session as its stub gives it: all that passes is copied, and only methods are there. */
function overRpc(session: Session): Session {
  return new Proxy(session, {
    get(target, method: keyof Session) {
      return async (...args: unknown[]) => {
        return overWire(await Reflect.apply(target[method], target, args.map(overWire)));
      };
    },
  });
}

/** What arrives of a value. Streams pass as they are. */
function overWire(value: unknown): unknown {
  return value instanceof ReadableStream ? value : structuredClone(value);
}
