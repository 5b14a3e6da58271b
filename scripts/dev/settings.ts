import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What the worker reads from its bindings and a developer may set in the shell. `HOLDFAST_OPEN` is ours to set. */
export const SETTINGS: readonly string[] = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "HOLDFAST_MODEL",
  "HOLDFAST_API_KEYS",
  "HOLDFAST_ORIGINS",
  "HOLDFAST_ALLOW_LOOPBACK",
  "HOLDFAST_SECRET",
  "HOLDFAST_LEASE_SECONDS",
];

/** The settings of this environment that have a value. */
export function settingsIn(env: NodeJS.ProcessEnv): Map<string, string> {
  return new Map(SETTINGS.flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])));
}

/** A file of settings for wrangler, which only this user can read. `remove` deletes it. */
export interface SettingsFile {
  /** `--env-file` for each file to read; a later one wins. */
  readonly options: readonly string[];
  remove(): void;
}

/**
 * Hands the settings to wrangler in a file, not as `--var`: every user of a machine can read a command line. A file that
 * is named takes the place of those that wrangler would find by itself, so they are named as well.
 */
export function writeSettings(settings: ReadonlyMap<string, string>, root: string): SettingsFile {
  const lines = [...settings, ["HOLDFAST_OPEN", "1"] as const].map(
    ([name, value]) => `${name}=${quote(name, value)}\n`,
  );
  const folder = mkdtempSync(join(tmpdir(), "holdfast-dev-"));
  const path = join(folder, "settings.env");
  writeFileSync(path, lines.join(""), { mode: 0o600 });
  const own = existsSync(join(root, ".dev.vars"))
    ? [".dev.vars"]
    : [".env", ".env.local"].filter((name) => existsSync(join(root, name)));
  return {
    options: [...own.map((name) => join(root, name)), path].flatMap((file) => ["--env-file", file]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The value as the file's format takes it: no quote can be escaped in it, and a `$` without a backslash names another variable. */
function quote(name: string, value: string): string {
  const mark = ["'", "`"].find((candidate) => !value.includes(candidate));
  if (mark === undefined || value.includes("\\$"))
    throw new Error(`${name} holds characters that wrangler's file of settings can't.`);
  return mark + value.replaceAll("$", "\\$") + mark;
}
