import { readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { COPIED } from "../../src/session/record.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import type { Crowd } from "./crowd-worker.ts";

/** Tables of D1 that have rows of sessions. */
const TABLES = ["sessions", "transcripts", "requests", ...COPIED.map(({ table }) => table)];

/** So many begin with one request, which ends within its time on a slow machine too. */
const BATCH = 50;

/** An SQLite file that holds nothing has one page. */
const EMPTY_FILE = 4_096;

/**
 * Counts rows, object storage and objects before and after so many sessions, each with a fork of its own, began and were
 * deleted. `evicted`: waits until the runtime has put the objects away, some ten seconds after their last call.
 */
export function crowd(count: number, evicted: boolean): void {
  let workerd: Workerd;
  beforeAll(async () => {
    workerd = await startWorkerd({ entry: "test/session/crowd-worker.ts" });
  });
  afterAll(() => workerd.dispose());

  const live = async (crowd: Crowd) => {
    const response = await workerd.fetch("/", { method: "POST", body: JSON.stringify(crowd) });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ full: 0 });
  };
  const rows = async () => {
    const db = await workerd.d1();
    const count = "SELECT count(*) AS n FROM";
    const counted = await db.batch<{ n: number }>(TABLES.map((table) => db.prepare(`${count} ${table}`)));
    return new Map(TABLES.map((table, index) => [table, counted[index]?.results[0]?.n ?? 0]));
  };

  test(`of ${count} sessions that ended, nothing is left but a tombstone each`, async () => {
    await live({ name: "staying", count: 3, end: false });
    const before = await rows();
    for (let from = 0; from < count; from += BATCH) {
      await live({ name: `ending-${from}`, count: Math.min(BATCH, count - from), end: true });
    }
    const after = await rows();
    expect((after.get("sessions") ?? 0) - (before.get("sessions") ?? 0)).toBe(2 * count);
    expect([...after].filter(([table]) => table !== "sessions")).toEqual(
      [...before].filter(([table]) => table !== "sessions"),
    );
    const db = await workerd.d1();
    const said = "SELECT count(*) AS n FROM sessions WHERE deleted_at IS NOT NULL AND (title <> '' OR state <> '{}')";
    expect(await db.prepare(said).first()).toEqual({ n: 0 });
    if (!evicted) return;
    await vi.waitFor(async () => expect(await liveObjects(workerd.persist)).toBe(0), {
      timeout: 120_000,
      interval: 500,
    });
    const sizes = await objectFiles(workerd.persist);
    expect(sizes.filter((size) => size > EMPTY_FILE)).toHaveLength(6);
  }, 900_000);
}

/** The sizes of the files that objects keep their storage in. */
async function objectFiles(persist: string): Promise<number[]> {
  const all = await readdir(join(persist, "do"), { recursive: true, withFileTypes: true });
  const files = all.filter((file) => /^[0-9a-f]{64}\.sqlite/.test(file.name));
  return Promise.all(files.map(async (file) => (await stat(join(file.parentPath, file.name))).size));
}

/** How many objects are in memory: each holds its file open. Read from /proc, so on Linux only; elsewhere none is seen. */
async function liveObjects(persist: string): Promise<number> {
  const folder = join(persist, "do");
  const open = new Set<string>();
  for (const process of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(process)) continue;
    for (const file of await readdir(`/proc/${process}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${process}/fd/${file}`).catch(() => "");
      if (target.startsWith(folder) && /\/[0-9a-f]{64}\.sqlite$/.test(target)) open.add(target);
    }
  }
  return open.size;
}
