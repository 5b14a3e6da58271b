import { resolve } from "node:path";
import { parseArgs } from "node:util";

export interface Options {
  readonly port: number;
  /** The folder for local storage, absolute; null for wrangler's own. */
  readonly storage: string | null;
}

/**
 * Reads `--port N` and `--persist-to FOLDER`. A folder is seen from `cwd`, where the user typed it.
 * @throws with a message for the user.
 */
export function readOptions(args: readonly string[], cwd: string): Options {
  const { values } = parseArgs({
    args: [...args],
    options: { port: { type: "string", default: "8787" }, "persist-to": { type: "string" } },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Error(`--port wants a number from 1 to 65535, not "${values.port}".`);
  }
  const folder = values["persist-to"];
  return { port, storage: folder === undefined ? null : resolve(cwd, folder) };
}
