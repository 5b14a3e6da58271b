import { resolve } from "node:path";
import { nextSteps } from "./dev/next-steps.ts";
import { type Options, readOptions } from "./dev/options.ts";
import { answered, firstAgent, isTaken } from "./dev/ready.ts";
import { settingsIn, writeSettings } from "./dev/settings.ts";
import { collected, ended, wrangler } from "./dev/wrangler.ts";

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

// Both need seconds to start, and the worker opens the database only when it is first asked.
console.log("Starting, and bringing the local database up to date …");
const migrating = wrangler(root, ["d1", "migrations", "apply", "DB", "--local", ...persist], "pipe");
const serving = wrangler(
  root,
  ["dev", "--local", "--port", `${port}`, "--show-interactive-dev-session=false", ...settings.options, ...persist],
  "inherit",
);
const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    stopped.abort();
    migrating.kill(signal);
    serving.kill(signal);
  });
}

const served = ended(serving).finally(() => stopped.abort());
// Waiting ends in an abort where wrangler ends first, and wrangler's exit code says the rest.
const up = answered(origin, stopped.signal).catch(() => undefined);
const [migrated] = await Promise.all([collected(migrating), up]);
if (migrated.code !== 0 && !stopped.signal.aborted) {
  console.error(migrated.output);
  console.error("The local database could not be brought up to date.");
  serving.kill("SIGTERM");
  await served;
  process.exit(1);
}
if (!stopped.signal.aborted) console.log(nextSteps(origin, await firstAgent(origin), [...taken.keys()]));
process.exit(await served);

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
