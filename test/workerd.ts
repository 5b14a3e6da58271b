import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

/** What a worker is started with. */
export interface WorkerdOptions {
  /** Path of the worker's entry file, from the repository. It exports the class `SessionObject`. */
  readonly entry: string;
  /** Variables, as in wrangler.toml's `[vars]`. */
  readonly bindings?: Readonly<Record<string, string>>;
  /** Storage folder; a fresh one in the system's folder for temporary files if not given. */
  readonly persist?: string;
  /** Names of the D1 migrations to apply; all of them if not given. */
  readonly migrations?: (name: string) => boolean;
  /** Binds `RATE_LIMITER`, which lets so many requests of an owner through in a minute. */
  readonly requestsPerMinute?: number;
  /** Where it listens; any free port if not given. */
  readonly port?: number;
  /** Debuggers can attach (`inspector`). */
  readonly inspect?: boolean;
  /** Console output goes to the test's output. */
  readonly verbose?: boolean;
  /** More objects than `SESSIONS`: the bindings' names, and the classes that the entry exports. */
  readonly objects?: Readonly<Record<string, string>>;
  /** How many more isolates run the same worker over the same objects and D1; default none. */
  readonly clones?: number;
}

/** Modules that run instead of the entry's, as another release would: in the first isolate, which has the objects, or in its clones. */
export interface Scripts {
  readonly host?: string;
  readonly clones?: string;
}

/** A worker in real workerd, with real storage on disk. */
export interface Workerd {
  readonly persist: string;
  /** What the worker wrote to its console, a line each. */
  readonly logs: readonly string[];
  /** Where it listens; another port after `fresh`. */
  readonly url: URL;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Asks a clone, from 1: an isolate of its own that holds no object. */
  fetchClone(clone: number, path: string, init?: RequestInit): Promise<Response>;
  d1(): Promise<D1Database>;
  /** Where debuggers attach, in the Chrome DevTools protocol; another port after `fresh`. */
  inspector(): Promise<URL>;
  /** Applies D1 migrations that were not applied yet. */
  migrate(which?: (name: string) => boolean): Promise<void>;
  /**
   * A new process, so a fresh isolate, on the same storage; the old one is killed where it stands (Miniflare ends
   * workerd with SIGKILL). Bindings given here replace those of the same name, scripts those it had.
   */
  fresh(bindings?: Readonly<Record<string, string>>, scripts?: Scripts): Promise<void>;
  /** A new process, as by `fresh`, after the storage of all objects was deleted. D1 stays. */
  wipeObjects(bindings?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends the process, and deletes the storage folder unless it was given. */
  dispose(): Promise<void>;
}

/** How esbuild makes one module of a worker. */
export const WORKER_BUILD = {
  bundle: true,
  format: "esm",
  target: "es2024",
  conditions: ["workerd", "worker", "browser"],
  external: ["node:*", "cloudflare:*"],
  keepNames: true,
  logLevel: "error",
} satisfies BuildOptions;

const bundles = new Map<string, Promise<string>>();

/** The worker as one module. Each entry is bundled once per test process. */
export function bundle(entry: string): Promise<string> {
  const path = resolve(entry);
  let bundled = bundles.get(path);
  if (bundled === undefined) {
    bundled = build({ ...WORKER_BUILD, entryPoints: [path], write: false }).then(
      ({ outputFiles: [file] }) => file?.text ?? "",
    );
    bundles.set(path, bundled);
  }
  return bundled;
}

export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const persist = options.persist ?? (await mkdtemp(join(tmpdir(), "holdfast-")));
  const script = await bundle(options.entry);
  const logs: string[] = [];
  let bindings = { ...options.bindings };
  let scripts: Scripts = {};
  const { requestsPerMinute: limit } = options;
  const ratelimits: Record<string, { namespace_id: string; simple: { limit: number; period: 60 } }> =
    limit === undefined ? {} : { RATE_LIMITER: { namespace_id: "1", simple: { limit, period: 60 } } };
  const isolate = (contents = scripts.host ?? script) => ({
    modules: [{ type: "ESModule", path: "worker.js", contents } as const],
    compatibilityDate: "2026-10-01",
    compatibilityFlags: ["nodejs_compat", "enable_request_signal"],
    bindings,
    durableObjects: Object.fromEntries(
      Object.entries({ SESSIONS: "SessionObject", ...options.objects }).map(([binding, className]) => [
        binding,
        { className, useSQLite: true },
      ]),
    ),
    d1Databases: { DB: "holdfast-test" },
    ratelimits,
  });
  const clone = (_: unknown, index: number) => ({
    ...isolate(scripts.clones ?? script),
    name: `clone-${index + 1}`,
    durableObjects: { SESSIONS: { className: "SessionObject", scriptName: "host", useSQLite: true } },
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  });
  const start = () =>
    new Miniflare(
      convertV4MiniflareOptions({
        ...(options.clones
          ? { workers: [{ ...isolate(), name: "host" }, ...Array.from({ length: options.clones }, clone)] }
          : isolate()),
        resourcePersistencePath: persist,
        cf: false,
        ...(options.port === undefined ? {} : { port: options.port }),
        ...(options.inspect ? { inspectorPort: 0 } : {}),
        handleStructuredLogs({ message }: { message: string }) {
          logs.push(message);
          if (options.verbose) console.log(message);
        },
      }),
    );
  let mf = start();
  let url = await mf.ready;
  const restart = async (next: Readonly<Record<string, string>> = {}) => {
    bindings = { ...bindings, ...next };
    mf = start();
    url = await mf.ready;
  };

  const workerd: Workerd = {
    persist,
    logs,
    get url() {
      return url;
    },
    fetch: (path, init) => fetch(new URL(path, url), init),
    async fetchClone(clone, path, init) {
      return fetch(new URL(path, await mf.unsafeGetDirectURL(`clone-${clone}`)), init);
    },
    d1: () => mf.getD1Database("DB"),
    inspector: () => mf.getInspectorURL(),
    async migrate(which = () => true) {
      await applyMigrations(await mf.getD1Database("DB"), which);
    },
    async fresh(next, other = scripts) {
      await mf.dispose();
      scripts = other;
      await restart(next);
    },
    async wipeObjects(next) {
      await mf.dispose();
      await rm(join(persist, "do"), { recursive: true });
      await restart(next);
    },
    async dispose() {
      await mf.dispose();
      if (options.persist === undefined) await rm(persist, { recursive: true, force: true });
    },
  };
  await workerd.migrate(options.migrations);
  return workerd;
}

/** Applies the migrations of this repository, in order, each once. */
export async function applyMigrations(db: D1Database, which: (name: string) => boolean): Promise<void> {
  await db.prepare("CREATE TABLE IF NOT EXISTS d1_migrations (name TEXT PRIMARY KEY)").run();
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const folder = resolve(import.meta.dirname, "../migrations");
  for (const name of (await readdir(folder)).sort()) {
    if (!name.endsWith(".sql") || applied.has(name) || !which(name)) continue;
    const text = (await readFile(join(folder, name), "utf8")).replace(/^--.*$/gm, "");
    const statements = text.split(";").filter((statement) => statement.trim() !== "");
    await db.batch([
      ...statements.map((statement) => db.prepare(statement)),
      db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name),
    ]);
  }
}
