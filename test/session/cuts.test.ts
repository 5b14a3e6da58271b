import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorkerd, type Workerd } from "../workerd.ts";
import { conversation, play } from "./played.ts";
import {
  append,
  assistant,
  begin,
  callRecord,
  item,
  say,
  session,
  type TestSession,
  user,
  wholeTurn,
} from "./session.ts";

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd({ entry: "test/session/worker.ts" });
});
afterAll(() => workerd?.dispose());

let conversations = 0;
const open = () => session(workerd, `cuts-${conversations++}`);

const one = ["one", "1"] as const;
const two = ["two", "2"] as const;

/** The second question's answer given anew so many times, each time with a batch that the next one takes back. */
async function answeredAnew(times: number, batches = 1): Promise<TestSession> {
  const asked = open();
  await play(asked, { name: "t1", asks: "one", answer: "1" });
  await play(asked, { name: "t2", asks: "two", answer: "2", batches });
  for (let n = 1; n <= times; n++) {
    await play(asked, { name: `again ${n}`, asks: "two", answer: "2", batches, shown: conversation(one) });
  }
  return asked;
}

/** The rows that a begin reads, and those that the whole context takes. */
async function rowsRead(asked: TestSession): Promise<{ begin: number; context: number }> {
  // In a process of its own, so that no flush of the turns before is counted.
  await asked.flushed();
  await workerd.fresh();
  await asked.read();
  const start = await begin(asked, { turn: "next", user: user("next", "next") });
  const beginRead = await asked.read();
  await asked.context(start.fence);
  return { begin: beginRead, context: await asked.read() };
}

/** One of the two may have found its lease's timer set already. */
function expectNoMore(many: Awaited<ReturnType<typeof rowsRead>>, few: typeof many): void {
  expect(many.context).toBe(few.context);
  expect(many.begin).toBeLessThanOrEqual(few.begin + TIMER_ROWS);
}

test.for([0, 1, 2])("a begin reads no more for all that rewinds took back (%i batches a turn)", async (batches) => {
  const [few, many] = [await answeredAnew(2, batches), await answeredAnew(40, batches)];
  const entries = (await many.summary())?.entries ?? 0;
  expect(entries).toBeGreaterThan(80 * (1 + batches));
  expectNoMore(await rowsRead(many), await rowsRead(few));
});

test("a begin reads no more for a long history of which an edit left the beginning", async () => {
  const read: Awaited<ReturnType<typeof rowsRead>>[] = [];
  for (const length of [3, 40]) {
    const asked = open();
    await play(asked, { name: "t1", asks: "one", answer: "1" });
    for (let n = 2; n <= length; n++) await play(asked, { name: `t${n}`, asks: `q${n}`, answer: "a", batches: 1 });
    for (let n = 1; n <= 3; n++) {
      await play(asked, { name: `two ${n}`, asks: `two ${n}`, answer: "2", batches: 1, shown: conversation(one) });
    }
    read.push(await rowsRead(asked));
  }
  const [few = { begin: 0, context: 0 }, many = few] = read;
  expectNoMore(many, few);
});

test("going back to a model passes over what came on others once: two rows a request, beside its entries", async () => {
  const read: number[] = [];
  for (const elsewhere of [5, 25]) {
    const asked = open();
    await wholeTurn(asked, "t1", "hello", "hi");
    for (let n = 0; n < elsewhere; n++) {
      const [turn, model] = [`other ${n}`, "anthropic/claude-opus-5"];
      const start = await begin(asked, { turn, user: user(turn, turn), chain: { model, perMode: false } });
      const opened = { verdict: { prefix: "break", cause: "model" }, revision: 1, prefix: "{}", base: null } as const;
      await append(asked, start, {
        entries: [assistant(turn, [say("there")])],
        chain: {
          ...{ key: model, epoch: 1, open: start.chain === null ? opened : null, deferred: [] },
          items: start.entries.map(([seq, text]) => item(seq, text)),
        },
        call: callRecord(turn, { chain: model, model }),
      });
    }
    read.push((await rowsRead(asked)).begin);
  }
  const [few = 0, many = 0] = read;
  expect((many - few - TIMER_ROWS) / 20).toBeLessThanOrEqual(4);
});

test("what all epochs open with is kept once, in the object and in D1", async () => {
  const asked = await answeredAnew(10);
  await asked.flushed();
  const db = await workerd.d1();
  const count = async (table: string) => {
    const query = `SELECT count(*) AS rows FROM ${table} WHERE session = ?`;
    return db
      .prepare(query)
      .bind(JSON.stringify(["ada", "assistant", asked.id.conversation]))
      .first("rows");
  };
  expect([await count("epochs"), await count("frozen")]).toEqual([11, 2]);
});

test("a session that was cut many times is rebuilt from D1 as it was, and reads as little", async () => {
  const asked = await answeredAnew(10);
  await play(asked, { name: "t3", asks: "three", answer: "3", batches: 2 });
  await play(asked, { name: "edit", asks: "3?", answer: "3", batches: 1, shown: conversation(one, two) });
  await asked.flushed();
  const kept = await stateOf(asked);
  await workerd.wipeObjects();
  const rebuilt = await stateOf(asked);
  expect(rebuilt.start).toEqual(kept.start);
  expect(rebuilt.read).toBeLessThanOrEqual(kept.read + TIMER_ROWS);
  expect(kept.start).toMatchObject({
    chain: { cut: false },
    broken: null,
    entries: [
      [57, expect.anything()],
      [58, expect.anything()],
    ],
  });
});

test("a record without cuts reads everything, starts from the same, and reads little again after a rewind", async () => {
  const asked = await answeredAnew(10);
  await asked.flushed();
  const kept = await stateOf(asked);
  const forget = "UPDATE sessions SET state = json_remove(state, '$.cuts') WHERE conversation = ?";
  await (await workerd.d1()).prepare(forget).bind(asked.id.conversation).run();
  await workerd.wipeObjects();
  const { start, read } = await stateOf(asked);
  expect(start).toEqual(kept.start);
  expect(read).toBeGreaterThan(kept.read + 30);

  await append(asked, await begin(asked, { turn: "next" }), { entries: [assistant("next", [say("n")])] });
  await play(asked, { name: "edit", asks: "2?", answer: "2", batches: 1, shown: conversation(one) });
  expect((await stateOf(asked)).read).toBeLessThanOrEqual(kept.read + TIMER_ROWS);
});

/** An object that has just been made sets its lease's timer; another has it already. */
const TIMER_ROWS = 2;

/** What the next turn starts from, and the rows that takes, but for the fence, which no two objects share. */
async function stateOf(asked: TestSession) {
  await workerd.fresh();
  await asked.summary();
  await asked.read();
  const start = await begin(asked, { turn: "next", user: user("next", "next"), minted: false });
  return { start: { ...start, fence: 0 }, read: await asked.read() };
}

test("a turn on a session that was cut writes no more rows than any other", async () => {
  const asked = await answeredAnew(5, 0);
  await asked.flushed();
  await asked.written();
  await play(asked, { name: "more", asks: "more", answer: "m" });
  await asked.flushed();
  expect(await asked.written()).toBe(7);
});
