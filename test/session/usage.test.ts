import { afterAll, beforeAll, expect, test } from "vitest";
import { sessionName } from "../../src/session/name.ts";
import type { SessionRow } from "../../src/session/store.ts";
import { countUsage, dayOf, ownerUsage } from "../../src/session/usage.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import { append, assistant, begin, callRecord, say, session, user } from "./session.ts";

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd({ entry: "test/session/worker.ts" });
});
afterAll(() => workerd?.dispose());

let conversations = 0;
const open = () => session(workerd, `usage-${conversations++}`);
const noon = (day: string) => Date.parse(`${day}T12:00:00Z`);
const usage = { input: 10, cacheRead: 200, cacheWrite: 30, output: 4 };

/** A turn with one model call at noon of a day. */
async function turnOn(one: ReturnType<typeof open>, turn: string, day: string): Promise<void> {
  const start = await begin(one, { turn, user: user("hello", turn), minted: false });
  const call = callRecord(turn, { at: noon(day), usage });
  await append(one, start, { entries: [assistant(turn, [say("hi")])], call });
}

const used = async (day: string) => ownerUsage(await workerd.d1(), "ada", day);

test("what a session's calls used is in its summary, and with the flush in its owner's day", async () => {
  const one = open();
  await turnOn(one, "t1", "2026-01-01");
  await turnOn(one, "t2", "2026-01-02");
  await turnOn(one, "t3", "2026-01-02");
  expect((await one.summary())?.usage).toEqual({ input: 30, cacheRead: 600, cacheWrite: 90, output: 12, calls: 3 });
  await one.flushed();
  expect(await used("2026-01-01")).toEqual({ ...usage, calls: 1 });
  expect(await used("2026-01-02")).toEqual({ input: 20, cacheRead: 400, cacheWrite: 60, output: 8, calls: 2 });
  expect(await used("2026-01-03")).toEqual({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0, calls: 0 });
});

test("sessions of one owner add up, and no call counts twice: not by a repeated flush, not after a rebuild", async () => {
  const [one, other] = [open(), open()];
  for (const each of [one, other]) {
    await turnOn(each, "t1", "2026-02-01");
    await each.flushed();
    await each.flushed();
  }
  await workerd.wipeObjects();
  await turnOn(one, "t2", "2026-02-01");
  await one.flushed();
  expect(await used("2026-02-01")).toMatchObject({ input: 30, calls: 3 });
});

test("a call that D1 could not be told of is counted once it can", async () => {
  const one = open();
  await turnOn(one, "t1", "2026-02-28");
  await one.flushed();
  await one.d1(false);
  await turnOn(one, "t2", "2026-03-01");
  await expect(one.flushed()).rejects.toThrow();
  await one.d1(true);
  await turnOn(one, "t3", "2026-03-01");
  await one.flushed();
  expect(await used("2026-03-01")).toMatchObject({ calls: 2 });
});

test("what was used stays used when the session is deleted, flushed before or not", async () => {
  const one = open();
  await turnOn(one, "t1", "2026-04-01");
  await one.flushed();
  await one.d1(false);
  await turnOn(one, "t2", "2026-04-01");
  await one.d1(true);
  await one.remove();
  await expect.poll(() => one.tables()).toEqual([]);
  expect(await used("2026-04-01")).toMatchObject({ calls: 2 });
});

test("a call that came with a copy of another session is counted there, not here", async () => {
  const one = open();
  const start = await begin(one, { minted: false });
  const call = callRecord("t1", { at: noon("2026-05-01"), copied: true });
  await append(one, start, { entries: [assistant("t1", [say("hi")])], call });
  await one.flushed();
  expect(await used("2026-05-01")).toMatchObject({ calls: 0 });
});

test("a copy whose answer was lost on the way is sent again, and counts nothing again", async () => {
  const db = await workerd.d1();
  const row = { owner: "eve", agent: "assistant", conversation: "lost", generation: "g" } as SessionRow;
  await db
    .prepare(
      `INSERT INTO sessions (id, owner, agent, conversation, title, mode, created_at, updated_at, entries, generation, rev, state)
       VALUES (?, 'eve', 'assistant', 'lost', '', 'agent', 1, 1, 0, 'g', 0, '{}')`,
    )
    .bind(sessionName(row))
    .run();
  const copy = (through: number, revs: readonly number[]) =>
    db.batch([
      ...countUsage(
        db,
        row,
        revs.map((rev) => ({ rev, call: { at: noon("2026-06-01"), usage } })),
      ),
      db.prepare("UPDATE sessions SET rev = ? WHERE id = ?").bind(through, sessionName(row)),
    ]);
  await copy(3, [2, 3]);
  await copy(3, [2, 3]);
  await copy(5, [2, 3, 5]);
  expect(await ownerUsage(db, "eve", "2026-06-01")).toMatchObject({ calls: 3, input: 30 });
});

test("a day is one of UTC", () => {
  expect([dayOf(Date.parse("2026-12-31T23:59:59Z")), dayOf(Date.parse("2027-01-01T00:00:00Z"))]).toEqual([
    "2026-12-31",
    "2027-01-01",
  ]);
});
