import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Branch, BranchAnswer } from "../../src/session/branch.ts";
import type { AppendRequest, SessionApi } from "../../src/session/contract.ts";
import { sessionName } from "../../src/session/name.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import { expectCopied } from "./copy.ts";
import type { Faults } from "./faulty-d1.ts";
import { append, begin, beginRequest, user } from "./session.ts";

/** A session, and what `faults-worker.ts` lets a test do to it. */
interface Faulty extends Pick<SessionApi, "begin" | "append" | "flushed" | "summary" | "remove"> {
  readonly id: { owner: string; agent: string; conversation: string };
  faults(next: Partial<Faults>): Promise<void>;
  taken(): Promise<Pick<Faults, "taken" | "tried" | "asked">>;
  isHeld(): Promise<boolean>;
  letGo(): Promise<void>;
  due(): Promise<number | null>;
  now(): Promise<number>;
  pass(ms: number): Promise<number>;
  query(statement: string): Promise<Record<string, unknown>[]>;
  turns(count: number, text: string): Promise<void>;
  branch(at: number): Promise<BranchAnswer>;
  adopt(branch: Branch): Promise<void>;
}

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd({ entry: "test/session/faults-worker.ts", objects: { SPARE: "SpareObject" } });
});
afterAll(() => workerd?.dispose());

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** A turn's lease: its timer rings once more after the turn. */
const LEASE = 15 * SECOND;

let conversations = 0;
function open(path = "/", conversation = `faults-${conversations++}`): Faulty {
  const id = { owner: `owner of ${conversation}`, agent: "assistant", conversation };
  return new Proxy({} as Faulty, {
    get(_, method: string) {
      if (method === "id") return id;
      if (method === "then") return undefined; // A session is no promise.
      return async (...args: unknown[]) => {
        const response = await workerd.fetch(path, { method: "POST", body: JSON.stringify({ id, method, args }) });
        const { answer, error } = (await response.json()) as { answer: unknown; error?: string };
        if (error !== undefined) throw new Error(error);
        return answer;
      };
    },
  });
}

/** Another object of the same session. */
const spareOf = ({ id }: Faulty) => open("/spare", id.conversation);

/** The copy is equal, and each model call was added to the owner's sum once. */
async function expectEqual(one: Faulty): Promise<void> {
  const db = await workerd.d1();
  await expectCopied(db, one.id, (statement) => one.query(statement));
  const [here] = await one.query("SELECT count(*) AS calls FROM calls");
  const sum = "SELECT sum(calls) AS calls FROM usage WHERE owner = ?";
  expect(await db.prepare(sum).bind(one.id.owner).first()).toEqual(here?.calls === 0 ? { calls: null } : here);
}

const held = (one: Faulty) => expect.poll(() => one.isHeld(), { interval: 5 }).toBe(true);
const reports = (text: string) => workerd.logs.filter((line) => line.includes(text)).length;

async function rowsInD1(one: Faulty, table: string): Promise<number> {
  const query = `SELECT count(*) AS rows FROM ${table} WHERE session = ?`;
  const count = await (await workerd.d1()).prepare(query).bind(sessionName(one.id)).first<{ rows: number }>();
  return count?.rows ?? -1;
}

describe("turns go on while D1", () => {
  test("is down from a session's start on; once it is back the alarm makes the copy equal", async () => {
    const one = open();
    await one.faults({ up: false });
    await one.turns(2, "in the dark");
    await expect(one.flushed()).rejects.toThrow("Network connection lost");
    expect(await rowsInD1(one, "entries")).toBe(0);
    await one.faults({ up: true });
    expect(await one.pass(2 * SECOND)).toBe(1);
    await expectEqual(one);
    await one.pass(LEASE);
    expect(await one.due()).toBeNull();
  });

  test("is down for an hour: the alarm is set all along, and copies what piled up when it is back", async () => {
    const one = open();
    await one.turns(1, "before");
    await one.flushed();
    await one.faults({ up: false });
    let rang = 0;
    for (let minute = 0; minute < 60; minute++) {
      await one.turns(1, `minute ${minute}`);
      await one.flushed().catch(() => {});
      rang += await one.pass(MINUTE);
      expect(await one.due()).not.toBeNull();
    }
    // 2 s, twice as long each time, then every 5 minutes; and once for the lease of each minute's turn.
    expect(rang).toBeGreaterThan(60 + 15);
    expect(rang).toBeLessThan(60 + 25);
    expect(await rowsInD1(one, "entries")).toBe(2);
    // Whoever is down is not asked row by row. (One more copy may be under way, of the last turn's end.)
    const { tried } = await one.taken();
    await expect(one.flushed()).rejects.toThrow("Network connection lost");
    expect((await one.taken()).tried).toBeLessThanOrEqual(tried + 4);
    await one.faults({ up: true });
    await one.pass(5 * MINUTE);
    await expectEqual(one);
    expect(await rowsInD1(one, "entries")).toBe(122);
    expect(await one.due()).toBeNull();
  });

  test("is slow: nothing waits for it, copies don't overtake each other, and the last one has all", async () => {
    const one = open();
    await one.faults({ hold: true });
    await one.turns(1, "first");
    await held(one);
    const { tried } = await one.taken();
    await one.turns(5, "while it is slow");
    expect((await one.taken()).tried).toBe(tried);
    expect(await one.summary()).toMatchObject({ entries: 12, running: false });
    await one.letGo();
    await one.flushed();
    await expectEqual(one);
  });
});

test("an append of a version that the object does not know is refused whole", async () => {
  const one = open();
  const start = await begin(one);
  const newer = { v: 2 } as unknown as Partial<AppendRequest>;
  await expect(append(one, start, newer)).rejects.toThrow("version 2 of this request is not known to this object yet");
  expect(await one.summary()).toMatchObject({ entries: 1, running: true });
  expect(await append(one, start)).toEqual({ kind: "ok", lastSeq: 1 });
});

describe("a copy that is large", () => {
  test("goes in batches of a few statements, and goes on where it broke off, wherever that was", async () => {
    // Each turn writes three revisions: two stretches of them.
    const turns = 80;
    for (const taken of [0, 1]) {
      const one = open();
      await one.faults({ up: false });
      await one.turns(turns, "many");
      await one.taken();
      await one.faults({ up: true, failAfter: taken });
      await expect(one.flushed()).rejects.toThrow("Network connection lost");
      const [{ rev = 0 } = {}] = await one.query("SELECT rev FROM session");
      const record = await (await workerd.d1())
        .prepare("SELECT rev FROM sessions WHERE id = ?")
        .bind(sessionName(one.id))
        .first();
      // Nobody rebuilds from half of a copy: the record counts once its last row is there.
      expect(record).toEqual(taken === 0 ? null : { rev: 0 });
      const first = await one.taken();
      await one.faults({ up: true });
      await one.flushed();
      await expectEqual(one);
      const rest = await one.taken();
      const all = [...first.taken, ...rest.taken];
      expect(all).toHaveLength(Math.ceil(Number(rev) / 200));
      expect(Math.max(...all.map(({ statements }) => statements))).toBeLessThanOrEqual(12);
    }
  });

  test("goes in batches of at most 8 MB, of statements of at most 1 MB, also where one revision is larger", async () => {
    const one = open();
    await one.faults({ up: false });
    const text = '"\\'.repeat(700_000);
    await one.begin(beginRequest(one, { seed: [user(text)], user: user(text) }));
    await one.faults({ up: true, failAfter: 1 });
    await expect(one.flushed()).rejects.toThrow("Network connection lost");
    await one.faults({ up: true });
    await one.flushed();
    await expectEqual(one);
    const { taken } = await one.taken();
    expect(taken.length).toBeGreaterThan(2);
    expect(Math.max(...taken.map(({ chars }) => chars))).toBeLessThan(8_100_000);
    expect(Math.max(...taken.map(({ longest }) => longest))).toBeLessThan(1_010_000);
    const [{ rows, bytes } = {}] = await one.query(
      "SELECT count(*) AS rows, max(length(CAST(text AS BLOB))) AS bytes FROM entries",
    );
    expect(rows).toBeGreaterThan(10);
    expect(bytes).toBeLessThanOrEqual(500_000);
  });
});

describe("a session of many rows", () => {
  /** Rebuilds one of 1,000 rows; answers how many rows each statement read. */
  async function rebuilt(faults: Partial<Faults>): Promise<readonly number[]> {
    const one = open();
    await one.turns(1, "few");
    await one.flushed();
    const more = `INSERT INTO entries WITH RECURSIVE c(n) AS (SELECT 3 UNION ALL SELECT n + 1 FROM c WHERE n < 1000)
      SELECT ?, n, 0, 1, '{}' FROM c`;
    await (await workerd.d1()).prepare(more).bind(sessionName(one.id)).run();
    const spare = spareOf(one);
    await spare.faults(faults);
    expect(await spare.summary()).toMatchObject({ entries: 2 });
    expect(await spare.query("SELECT count(*) AS rows, max(seq) AS last FROM entries")).toEqual([
      { rows: 1_000, last: 1_000 },
    ]);
    return (await spare.taken()).asked;
  }

  test("is rebuilt by few statements: pages grow while their rows are small", async () => {
    const asked = await rebuilt({});
    expect(Math.max(...asked)).toBeGreaterThan(400);
    // Pages of 64 would take 16 for the entries alone.
    expect(asked.length).toBeLessThan(16);
  });

  test("is rebuilt by more where D1 can't answer a page that has grown", async () => {
    const asked = await rebuilt({ mostRows: 200 });
    expect(asked.filter((rows) => rows > 200).length).toBeGreaterThan(1);
  });
});

describe("a row that D1 refuses", () => {
  test("holds no other up, is named in the log without its content, and goes in once D1 takes it", async () => {
    const one = open();
    await one.turns(2, "fine");
    await one.flushed();
    await one.faults({ refuse: "poison 0" });
    await one.turns(1, "poison");
    await one.turns(2, "fine again");
    const refused = /^D1 refuses rows: entries 5 0, items \d+ 0$/;
    await expect(one.flushed()).rejects.toThrow(refused);
    expect(await rowsInD1(one, "entries")).toBe(9);
    expect(reports("entries 5 0, items")).toBeGreaterThan(0);
    expect(reports("poison")).toBe(0);

    // The record says that it has a hole, so nobody goes on from it as if it had none.
    const spare = spareOf(one);
    await expect(spare.summary()).rejects.toThrow("unavailable");
    expect(reports("the record lacks a row that D1 refused: entries 5 0")).toBe(1);

    const wait = Number(await one.due()) - Number(await one.now());
    expect(wait).toBeLessThanOrEqual(5 * MINUTE);
    await one.pass(wait);
    expect(await one.due()).not.toBeNull();
    await one.faults({ refuse: null });
    await one.pass(5 * MINUTE);
    await expectEqual(one);
    expect(await one.due()).toBeNull();
    expect(await spare.summary()).toMatchObject({ entries: 10 });
  });

  test("is none of them where D1 refuses them all: the whole copy then waits", async () => {
    const one = open();
    // What holds a bracket is all there is, as in a D1 that is full; then all answers, as in one that lacks a table.
    for (const refuse of ["[", "answer to"]) {
      await one.faults({ refuse });
      await one.turns(20, "nothing");
      await expect(one.flushed()).rejects.toThrow("SQLITE_TOOBIG");
      const [row] = await one.query("SELECT flushed_rev, recorded_rev, refused FROM session");
      expect(row).toEqual({ flushed_rev: 0, recorded_rev: 0, refused: "[]" });
    }
    await one.faults({ refuse: null });
    await one.pass(5 * MINUTE);
    await expectEqual(one);
  });
});

describe("a copy that comes late", () => {
  test("after another object was rebuilt changes nothing: the record stays equal to that one's", async () => {
    const old = open();
    await old.turns(2, "shared");
    await old.flushed();
    await old.faults({ up: false });
    await old.turns(150, "the old one's alone");
    // Between two stretches of its copy.
    await old.faults({ up: true, failAfter: 1 });
    await expect(old.flushed()).rejects.toThrow();
    expect(await rowsInD1(old, "entries")).toBeGreaterThan(4);

    const spare = spareOf(old);
    expect(await spare.summary()).toMatchObject({ entries: 4 });
    expect(await rowsInD1(old, "entries")).toBe(4);
    await old.faults({ up: true });
    await old.turns(1, "still alive");
    await old.flushed();
    expect(reports("D1 has the session under another generation")).toBeGreaterThan(0);
    await spare.turns(2, "the new one's");
    await spare.flushed();
    await expectEqual(spare);
    await old.pass(10 * MINUTE);
    await expectEqual(spare);
  });

  test("and was under way while another object was rebuilt changes nothing either", async () => {
    const old = open();
    await old.turns(1, "shared");
    await old.flushed();
    await old.faults({ hold: true });
    await old.turns(1, "on its way");
    await held(old);
    const spare = spareOf(old);
    expect(await spare.summary()).toMatchObject({ entries: 2 });
    await old.letGo();
    await old.flushed();
    await spare.turns(1, "the new one's");
    await spare.flushed();
    await expectEqual(spare);
  });

  test("after a fork is the original's alone: each has its own record, and the fork's is the first to be whole", async () => {
    const one = open();
    await one.turns(2, "shared");
    await one.flushed();
    await one.faults({ up: false });
    await one.turns(2, "not copied yet");
    const answer = await one.branch(3);
    if (answer.kind !== "branch") throw new Error("there is no fourth message");
    const fork = open();
    const isWhole = async () => expectCopied(await workerd.d1(), fork.id, (statement) => fork.query(statement));
    await fork.adopt(answer.branch);
    await fork.turns(1, "the fork's");
    await fork.flushed();
    await isWhole();
    expect(await rowsInD1(fork, "entries")).toBe(8);
    expect(await rowsInD1(one, "entries")).toBe(4);
    await one.faults({ up: true });
    await one.flushed();
    await expectEqual(one);
    await isWhole();
    expect(await one.remove()).toBe(true);
    await isWhole();
  });

  test("after its session was deleted leaves nothing of it", async () => {
    const one = open();
    await one.turns(1, "shared");
    await one.flushed();
    await one.faults({ hold: true });
    await one.turns(1, "on its way");
    await held(one);
    expect(await one.remove()).toBe(true);
    await one.letGo();
    await expect.poll(() => one.query("SELECT name FROM sqlite_master WHERE name = 'session'")).toEqual([]);
    for (const table of ["entries", "epochs", "frozen", "items", "calls", "texts", "endings", "blobs"]) {
      expect(await rowsInD1(one, table), table).toBe(0);
    }
    const tombstone = await (await workerd.d1())
      .prepare("SELECT title, state, deleted_at > 0 AS deleted FROM sessions WHERE id = ?")
      .bind(sessionName(one.id))
      .first();
    expect(tombstone).toEqual({ title: "", state: "{}", deleted: 1 });
    expect(await one.summary()).toBeNull();
  });
});
