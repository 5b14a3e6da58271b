import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Nothing leaves the machine, and nothing but the worker talks. In the child's environment, since in `.env` they would
 * become bindings of the worker. */
const QUIET = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

const PROGRAM = join(dirname(createRequire(import.meta.url).resolve("wrangler/package.json")), "bin/wrangler.js");

/** Starts wrangler in the project's folder with the Node that runs this script. */
export function wrangler(root: string, options: readonly string[]): ChildProcess {
  const colour = process.stdout.isTTY && !process.env.NO_COLOR ? { FORCE_COLOR: "1" } : {};
  return spawn(process.execPath, [PROGRAM, ...options], {
    cwd: root,
    env: { ...colour, ...process.env, ...QUIET },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Its exit code, in the shell's way where a signal ended it. */
export function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** Passes what it prints on to the terminal, with `origin` wherever it names the address it listens on itself. */
export function shownAs(origin: string, port: number, child: ChildProcess): ChildProcess {
  const own = new RegExp(`http://(?:127\\.0\\.0\\.1|localhost):${port}\\b`, "g");
  child.stdout?.setEncoding("utf8").on("data", (text: string) => process.stdout.write(text.replaceAll(own, origin)));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => process.stderr.write(text.replaceAll(own, origin)));
  return child;
}

/** Everything that it prints, and its exit code. */
export async function collected(child: ChildProcess): Promise<{ code: number; output: string }> {
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => chunks.push(text));
  const code = await ended(child);
  return { code, output: chunks.join("") };
}
