import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Workerd } from "./workerd.ts";

/** Bytes of a database without any table, which workerd makes for each object that looks into its own. */
const EMPTY = 4096;

/** How much is stored: rows in each table of D1, and bytes of each object. */
export async function allStored(workerd: Workerd): Promise<Record<string, number>> {
  const db = await workerd.d1();
  const { results } = await db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all<{ name: string }>();
  const tables = results.map(({ name }) => name).filter((name) => !/^(_cf_|sqlite_|d1_)/.test(name));
  const counts = tables.map((name) => `(SELECT count(*) FROM ${name}) AS ${name}`);
  const stored = { ...(await db.prepare(`SELECT ${counts.join(", ")}`).first<Record<string, number>>()) };
  const files = await readdir(workerd.persist, { recursive: true });
  for (const file of files.filter((name) => /SessionObject.*[0-9a-f]{64}\.sqlite(-wal)?$/.test(name))) {
    const { size } = await stat(join(workerd.persist, file));
    if (size > EMPTY) stored[file] = size;
  }
  if (stored.sessions === undefined) throw new Error("D1 has no table of sessions");
  return stored;
}
