import { expect, test } from "vitest";
import type { ResumeRequest } from "../../src/session/contract.ts";
import type { TurnJob } from "../../src/session/host.ts";
import { Session } from "../../src/session/session.ts";
import { nodeStorage } from "../../src/testing/node-storage.ts";
import { append, assistant, begin, beginRequest, call, callRecord, MODEL, results, say, user } from "./session.ts";

const SECOND = 1_000;
const id = { owner: "ada", agent: "assistant", conversation: "resume" };

/** A session on a clock that the test moves, whose turns are given out to nobody in particular. */
function stage() {
  const jobs: TurnJob[] = [];
  let now = 1_000_000;
  const session = new Session({
    storage: nodeStorage(),
    db: null,
    name: JSON.stringify(Object.values(id)),
    waitUntil: () => {},
    setAlarm: async () => {},
    run: async (job) => void jobs.push(job),
    now: () => now,
  });
  const resume = (job: TurnJob | undefined, attempt: string, fields: Partial<ResumeRequest> = {}) =>
    session.resume({
      v: 1,
      turn: job?.turn ?? "",
      fence: job?.fence ?? 0,
      attempt,
      wire: "anthropic/1",
      chain: { model: MODEL, perMode: false },
      rerun: ["tool_search"],
      ...fields,
    });
  return {
    session: Object.assign(session, { id }),
    jobs,
    resume,
    /** Time passes, and the alarm rings as often as it would. */
    async pass(ms: number) {
      for (const end = now + ms; now < end; now += SECOND) await session.alarm();
    },
  };
}

test("a lease that runs out gives the turn to the first who comes with its fence, and to nobody else", async () => {
  const { session, jobs, resume, pass } = stage();
  const old = await begin(session, { turn: "t1" });
  await pass(14 * SECOND);
  expect(jobs).toEqual([]);
  await pass(3 * SECOND);
  expect(jobs).toEqual([{ v: 1, id, turn: "t1", fence: old.fence + 1 }]);
  expect(await session.beat(old.fence)).toBe("lost");
  expect(await append(session, old, { entries: [assistant("t1", [say("late")])] })).toEqual({ kind: "lost" });

  const [job] = jobs;
  expect(await resume(job, "other", { fence: old.fence })).toEqual({ kind: "lost" });
  expect(await resume(job, "other", { turn: "t0" })).toEqual({ kind: "lost" });
  const first = await resume(job, "run1");
  expect(first).toMatchObject({ kind: "go", turn: "t1", resumed: true, step: 0 });
  expect(await resume(job, "run1")).toEqual(first);
  expect(await resume(job, "run2")).toEqual({ kind: "lost" });
});

test("beats keep a turn where it is, however long it takes", async () => {
  const { session, jobs, pass } = stage();
  const { fence } = await begin(session, { turn: "t1" });
  for (let minute = 0; minute < 5; minute++) {
    await pass(10 * SECOND);
    expect(await session.beat(fence)).toBe("go");
  }
  expect(jobs).toEqual([]);
});

test("a turn that loses three isolates fails readably, with its calls closed and the session free", async () => {
  const { session, jobs, resume, pass } = stage();
  const start = await begin(session, { turn: "t1" });
  await append(session, start, { kind: "answer", entries: [assistant("t1", [call("c1", "x")])] });
  await pass(16 * SECOND);
  await resume(jobs[0], "run1");
  await pass(17 * SECOND);
  await resume(jobs[1], "run2");
  await pass(17 * SECOND);
  expect(jobs).toHaveLength(2);
  expect((await session.summary())?.running).toBe(false);
  const told = await session.follow({ v: 1, turn: "t1", log: null, after: 0, waitMs: 0 });
  expect(told?.events.map(({ type }) => type)).toEqual(["started", "request", "answering", "call", "result", "failed"]);
  expect(told?.events.at(-1)).toMatchObject({ failure: { reason: "limit", limit: "attempts" } });
  const next = await begin(session, { turn: "t2", user: user("go on", "t2") });
  expect(next.pending).toBeNull();
});

test("a turn that was told to stop and then lost its isolate is stopped, not gone on with", async () => {
  const { session, jobs, pass } = stage();
  await begin(session, { turn: "t1" });
  await session.stop();
  await pass(20 * SECOND);
  expect(jobs).toEqual([]);
  const told = await session.follow({ v: 1, turn: null, log: null, after: 0, waitMs: 0 });
  expect(told?.events.at(-1)).toMatchObject({ type: "done", stop: "stopped" });
});

test("a handed-over turn that nobody comes for is given out again when its lease runs out", async () => {
  const { session, jobs, resume, pass } = stage();
  const start = await begin(session, { turn: "t1" });
  await append(session, start, { kind: "handover", step: 0 });
  expect(jobs).toHaveLength(1);
  await pass(17 * SECOND);
  expect(jobs).toHaveLength(2);
  expect(await resume(jobs[0], "run1")).toEqual({ kind: "lost" });
  expect(await resume(jobs[1], "run2")).toMatchObject({ kind: "go" });
});

test("results that were there at a hand-over are there for whoever goes on, and for a message that closes the batch", async () => {
  const { session, jobs, resume } = stage();
  const start = await begin(session, { turn: "t1" });
  await append(session, start, {
    kind: "answer",
    entries: [assistant("t1", [call("c1", "send"), call("c2", "send")])],
  });
  const done = { call: "c1", name: "send", status: "ok", content: [{ type: "text", text: "sent" }] } as const;
  await append(session, { ...start, lastSeq: 2 }, { kind: "handover", partial: { of: 2, results: [done] } });
  const next = await resume(jobs[0], "run1");
  expect(next).toMatchObject({ pending: { seq: 2, calls: [], interrupted: ["c2"], results: [done] } });
  if (next.kind !== "go") throw new Error("it was not given out");
  await append(session, next, { kind: "results", entries: [results("t1", 2, [done])], sentThrough: 3 });
  expect((await session.entries(0, 10))?.entries).toHaveLength(3);
});

test("a request that comes again while its turn runs is told of it, and does not wait for it", async () => {
  const { session } = stage();
  const once = { key: "k", body: "b", repeated: false };
  const first = await begin(session, { turn: "t1", once });
  expect(await session.begin(beginRequest(session, { turn: "t2", once }))).toEqual({ kind: "joined", turn: "t1" });
  const other = beginRequest(session, { turn: "t3", once: { ...once, body: "c" } });
  expect(await session.begin(other)).toEqual({ kind: "key_reused" });
  await append(session, first, { end: { status: "failed" } });
  expect(await session.begin(beginRequest(session, { turn: "t4", once }))).toMatchObject({ kind: "go", turn: "t4" });
});

test("a message that interrupts a handed-over turn stops it at once, and has the session", async () => {
  const { session, jobs, resume } = stage();
  const start = await begin(session, { turn: "t1" });
  await append(session, start, { kind: "handover", told: { log: "l", after: 0, events: [] } });
  const next = await session.begin(
    beginRequest(session, { turn: "t2", user: user("Stop, this.", "t2"), busy: "interrupt" }),
  );
  expect(next).toMatchObject({ kind: "go", turn: "t2" });
  expect(await resume(jobs[0], "run1")).toEqual({ kind: "lost" });
});

test("a turn that its isolate can't begin is given back by its fence, and by no older one", async () => {
  const { session } = stage();
  const { fence } = await begin(session, { turn: "t1" });
  const failure = { reason: "internal", message: "Something went wrong." } as const;
  await session.abandon(fence - 1, failure);
  expect(await session.summary()).toMatchObject({ status: "running" });
  await session.abandon(fence, failure);
  expect(await session.summary()).toMatchObject({ status: "failed" });
});

test("a step that is told by the entries has the verdict of its own request, not of a summary's before it", async () => {
  const { session } = stage();
  const start = await begin(session, { turn: "t1" });
  const verdict = { prefix: "break", cause: "compaction" } as const;
  await append(session, start, { kind: "call", n: 1, call: callRecord("t1", { purpose: "summary" }) });
  await append(session, start, { entries: [assistant("t1", [say("Hi.")])], call: callRecord("t1", { verdict }) });
  const told = await session.follow({ v: 1, turn: "t1", log: null, after: 0, waitMs: 0 });
  expect(told?.events.find(({ type }) => type === "request")).toMatchObject({ verdict });
});
