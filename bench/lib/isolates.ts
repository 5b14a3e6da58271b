import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { applyMigrations, bundle } from "../../test/workerd.ts";

/** A workerd in which every request with a new `x-isolate` header is answered by an isolate that was just made. */
export interface Isolates {
  fetch(isolate: string, path: string, init?: RequestInit): Promise<Response>;
  dispose(): Promise<void>;
}

/** The object's class and the loader. Namespaces can't be handed to an isolate, so a stub of this worker stands for it. */
const host = (objects: string) => `
import { WorkerEntrypoint } from "cloudflare:workers";
import script from "worker.txt";
export { SessionObject } from "${objects}";
export class Objects extends WorkerEntrypoint {
  call(name, method, args) { return this.env.SESSIONS.getByName(name)[method](...args); }
}
const main = \`
import worker from "./worker.js";
const objects = (env) => ({
  getByName: (name) => new Proxy({}, { get: (_, method) => (...args) => env.OBJECTS.call(name, method, args) }),
});
export default { fetch: (request, env, ctx) => worker.fetch(request, { ...env, SESSIONS: objects(env) }, ctx) };
\`;
export default {
  fetch(request, env, ctx) {
    const code = () => ({
      compatibilityDate: "2026-10-01",
      compatibilityFlags: ["nodejs_compat", "enable_request_signal"],
      mainModule: "main.js",
      modules: { "main.js": main, "worker.js": script },
      env: { ...env.VARIABLES, DB: env.DB, OBJECTS: ctx.exports.Objects({ props: {} }) },
    });
    return env.LOADER.get(request.headers.get("x-isolate"), code).getEntrypoint().fetch(request);
  },
};`;

/** `entry` is a worker's entry file, which also exports the class of its object. */
export async function startIsolates(entry: string, variables: Readonly<Record<string, string>>): Promise<Isolates> {
  const script = await bundle(entry);
  const mf = new Miniflare(
    convertV4MiniflareOptions({
      modules: [
        { type: "ESModule", path: "host.js", contents: host("./worker.js") },
        { type: "ESModule", path: "worker.js", contents: script },
        { type: "Text", path: "worker.txt", contents: script },
      ],
      compatibilityDate: "2026-10-01",
      compatibilityFlags: ["nodejs_compat", "enable_request_signal"],
      bindings: { ...variables, VARIABLES: variables },
      durableObjects: { SESSIONS: { className: "SessionObject", useSQLite: true } },
      d1Databases: { DB: "holdfast-bench" },
      workerLoaders: { LOADER: {} },
      cf: false,
      handleStructuredLogs() {},
    }),
  );
  const url = await mf.ready;
  await applyMigrations(await mf.getD1Database("DB"), () => true);
  return {
    fetch(isolate, path, init = {}) {
      const headers = new Headers(init.headers);
      headers.set("x-isolate", isolate);
      return fetch(new URL(path, url), { ...init, headers });
    },
    dispose: () => mf.dispose(),
  };
}
