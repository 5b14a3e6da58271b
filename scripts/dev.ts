import type { ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { nextSteps } from "./dev/next-steps.ts";
import { type Options, readOptions } from "./dev/options.ts";
import { startProxy } from "./dev/proxy.ts";
import { answered, firstAgent, freePort, isTaken } from "./dev/ready.ts";
import { settingsIn, writeSettings } from "./dev/settings.ts";
import { collected, ended, shownAs, wrangler } from "./dev/wrangler.ts";

/**
 * Everything on this machine: `npm run dev -- [--port N] [--persist-to FOLDER]`. Needs no key and no network. The exit
 * code is wrangler's.
 */
const { port, storage } = options();
if (await isTaken(port)) fail(`Port ${port} is in use. Another one: npm run dev -- --port ${port + 1}`);

const root = resolve(import.meta.dirname, "..");
const origin = `http://localhost:${port}`;
const persist = storage === null ? [] : ["--persist-to", storage];
const taken = settingsIn(process.env);
const settings = writeSettings(taken, root);
process.once("exit", settings.remove);

const stopped = new AbortController();
const children = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    stopped.abort();
    for (const child of children) child.kill(signal);
  });
}

// The database first: whoever waits for the port must never meet a worker without its tables.
console.log("Bringing the local database up to date …");
const migrating = run(["d1", "migrations", "apply", "DB", "--local", ...persist]);
const migrated = await collected(migrating);
if (stopped.signal.aborted) process.exit(migrated.code);
if (migrated.code !== 0) {
  console.error(migrated.output);
  console.error("The local database could not be brought up to date.");
  process.exit(1);
}

console.log("Starting …");
// Wrangler stands behind a proxy of ours, which alone sees the Host that a request came with.
const inner = await freePort();
const behind = `http://127.0.0.1:${inner}`;
const serve = ["dev", "--local", "--ip", "127.0.0.1", "--port", `${inner}`, "--show-interactive-dev-session=false"];
const child = shownAs(origin, inner, run([...serve, ...settings.options, ...persist]));
const served = ended(child).finally(() => stopped.abort());
// Waiting ends in an abort where wrangler ends first, and wrangler's exit code says the rest.
await answered(behind, stopped.signal).catch(() => undefined);
if (!stopped.signal.aborted) {
  await startProxy(port, inner).catch((error: Error) => {
    child.kill();
    fail(error.message);
  });
  console.log(nextSteps(origin, await firstAgent(behind), [...taken.keys()]));
}
process.exit(await served);

function run(args: readonly string[]): ChildProcess {
  const child = wrangler(root, args);
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

function options(): Options {
  try {
    // npm runs scripts in the project's folder and says in INIT_CWD where the user is.
    return readOptions(process.argv.slice(2), process.env.INIT_CWD ?? process.cwd());
  } catch (error) {
    return fail(
      `${error instanceof Error ? error.message : error}\nUsage: npm run dev -- [--port N] [--persist-to FOLDER]`,
    );
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
