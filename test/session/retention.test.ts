import { expect, test } from "vitest";
import { nodeSession } from "../../src/testing/node-session.ts";
import { append, assistant, begin, say, user } from "./session.ts";

const ID = { owner: "ada", agent: "assistant", conversation: "kept" };
const HOUR = 3_600_000;

/** A session whose clock the test turns. `alarm` rings as the object's does. */
function open(now = 1_000_000) {
  const clock = { now };
  const session = nodeSession({ now: () => clock.now });
  return Object.assign(session, { id: ID, clock });
}

/** A whole turn, for an agent that keeps idle sessions for so long. */
async function turn(one: ReturnType<typeof open>, id: string, keepMs?: number): Promise<void> {
  const start = await begin(one, { turn: id, user: user("hello", id), ...(keepMs === undefined ? {} : { keepMs }) });
  await append(one, start, { entries: [assistant(id, [say("hi")])] });
}

test("a session that was idle for long enough is deleted by its alarm", async () => {
  const one = open();
  await turn(one, "t1", HOUR);
  one.clock.now += HOUR - 1;
  await one.alarm();
  expect(await one.summary()).not.toBeNull();
  one.clock.now += 1;
  await one.alarm();
  expect(await one.summary()).toBeNull();
});

test("each turn puts it off, and a turn that runs is never cut off", async () => {
  const one = open();
  await turn(one, "t1", HOUR);
  one.clock.now += HOUR - 1;
  await turn(one, "t2", HOUR);
  one.clock.now += 1;
  await one.alarm();
  expect(await one.summary()).not.toBeNull();

  one.clock.now += HOUR - 2;
  const start = await begin(one, { turn: "t3", user: user("more", "t3"), keepMs: 1, leaseSeconds: 15 });
  one.clock.now += 10_000;
  await one.alarm();
  expect(await one.beat(start.fence)).toBe("go");
  await append(one, start, { entries: [assistant("t3", [say("hi")])] });
  one.clock.now += 20_000;
  await one.alarm();
  expect(await one.summary()).toBeNull();
});

test("without it a session is kept, and one that is to be kept from now on too", async () => {
  const one = open();
  await turn(one, "t1");
  one.clock.now += 1_000 * HOUR;
  await one.alarm();
  expect(await one.summary()).not.toBeNull();
  await turn(one, "t2", HOUR);
  await turn(one, "t3");
  one.clock.now += 1_000 * HOUR;
  await one.alarm();
  expect(await one.summary()).not.toBeNull();
});

test("a copy that nobody uses is deleted as its original would be", async () => {
  const one = open();
  await turn(one, "t1", HOUR);
  const answer = await one.branch({ v: 1, at: null, of: "fork" });
  if (answer === null) throw new Error("no branch");
  const copy = open(one.clock.now);
  const { branch } = JSON.parse(await new Response(answer).text());
  await copy.adopt({ ...ID, conversation: "copy" }, new Response(JSON.stringify(branch)).body as ReadableStream);
  expect((await copy.summary())?.forkedFrom).toEqual({ id: "kept", at: null });
  copy.clock.now += HOUR;
  await copy.alarm();
  expect(await copy.summary()).toBeNull();
});
