import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { call, createParking, parkAt, type RecordedRequest, say, think } from "../emulators/anthropic/index.ts";
import { expectAllExtend, type Stage, startStage } from "./chat.ts";
import { openStream } from "./turn-stream.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ MODEL: "anthropic/claude-opus-5-5" }, { entry: "test/e2e/modes-worker.ts" });
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.model.reset();
  stage.takeRequests();
});

const QUESTION = "Which city?\n- Rome\n- Oslo";

async function pausesOf(conversation: string, who: "ann" | "bob" = "ann") {
  return stage.get(`/api/sessions/${conversation}/pauses`, who);
}

function answer(conversation: string, pause: string, body: unknown, who: "ann" | "bob" = "ann") {
  return stage.send("POST", `/api/sessions/${conversation}/pauses/${pause}`, who, JSON.stringify(body));
}

/** Asks a question in a conversation and gives the pause's id. */
async function paused(conversation: string): Promise<string> {
  stage.model.script([think("where"), say("Let me ask."), call("clock"), call("ask_city")]);
  const reply = await stage.say(conversation, "weather?");
  expect(reply.error).toBeNull();
  expect(reply.text).toBe(`Let me ask.\n\n${QUESTION}`);
  expect(reply.body.choices[0].finish_reason).toBe("stop");
  const { body } = await pausesOf(conversation);
  expect(body.pauses).toHaveLength(1);
  return body.pauses[0].id;
}

async function ended(conversation: string): Promise<void> {
  await vi.waitFor(async () => {
    expect((await stage.get(`/api/sessions/${conversation}`)).body.status).toBe("done");
  });
}

test("a question is shown as text, and its answer goes on with the turn, in another isolate, behind the same bytes", async () => {
  const id = await paused("asked");
  expect((await pausesOf("asked")).body.pauses).toEqual([
    { id, kind: "question", question: "Which city?", options: ["Rome", "Oslo"], call: expect.any(String) },
  ]);
  expect((await stage.get("/api/sessions/asked")).body).toMatchObject({ status: "paused", running: false });
  await stage.workerd.fresh();
  stage.model.script([think("rome"), say("Sunny in Rome.")], say("Bye."));
  expect((await answer("asked", id, { answer: "Rome" })).body).toEqual({ id, answered: true, goesOn: true });
  await ended("asked");
  expect((await pausesOf("asked")).body).toEqual({ pauses: [] });
  expect((await answer("asked", id, { answer: " Rome " })).body).toEqual({ id, answered: true, goesOn: false });
  const history = [
    { role: "user", content: "weather?" },
    { role: "assistant", content: `Let me ask.\n\n${QUESTION}` },
  ];
  expect((await stage.say("asked", "thanks", { history })).text).toBe("Bye.");
  expectAllExtend(stage.takeRequests());
  const { body } = await stage.get("/api/sessions/asked/entries");
  expect(body.entries.map(({ kind }: { kind: string }) => kind)).toEqual([
    ...["user", "assistant", "pause", "pause_answer", "results", "assistant", "user", "assistant"],
  ]);
});

test("who followed a turn up to its pause, and follows it again behind the answer, reads how it goes on", async () => {
  const id = await paused("followed");
  expect((await (await openStream(stage, "followed")).all()).at(-1)).toMatchObject({ type: "done", stop: "paused" });
  const parking = createParking<RecordedRequest>();
  stage.model.script([parkAt("headers", parking), say("Sunny in Rome.")]);
  await answer("followed", id, { answer: "Rome" });
  await parking.parked;
  const again = await openStream(stage, "followed");
  parking.release();
  const events = await again.all();
  expect(events.at(-1)).toMatchObject({ type: "done", stop: "end" });
  expect(events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")).toContain("Sunny in Rome.");
});

test("a pause survives its object: rebuilt from D1 it can be answered, and the turn extends what was sent", async () => {
  const id = await paused("rebuilt");
  await stage.object("rebuilt", "flushed");
  await stage.workerd.wipeObjects();
  expect((await pausesOf("rebuilt")).body.pauses).toMatchObject([{ id, question: "Which city?" }]);
  stage.model.script(say("Cold in Oslo."));
  expect((await answer("rebuilt", id, { answer: { city: "Oslo" } })).body).toMatchObject({ goesOn: true });
  await ended("rebuilt");
  const requests = stage.takeRequests();
  expectAllExtend(requests);
  expect(requests.at(-1)?.bodyText).toContain('{\\"city\\":\\"Oslo\\"}');
});

test("a turn that is stopped while it waits keeps the results that are there, behind a compaction too", async () => {
  stage.model.script(say("One."));
  await stage.say("stopped", `first ${"word ".repeat(4_000)}`);
  const id = await paused("stopped");
  expect((await stage.send("POST", "/api/sessions/stopped/stop")).status).toBe(200);
  expect((await stage.get("/api/sessions/stopped")).body.status).toBe("stopped");
  expect((await answer("stopped", id, { answer: "Rome" })).status).toBe(409);
  const { entries } = (await stage.get("/api/sessions/stopped/entries")).body;
  expect(entries.at(-1).results).toMatchObject([
    { name: "clock", status: "ok" },
    { name: "ask_city", status: "interrupted" },
  ]);
  stage.model.script(say("Summary."), say("Bye."));
  expect((await stage.send("POST", "/api/sessions/stopped/compact")).body.compacted).toBe(true);
  expect((await stage.say("stopped", "never mind")).text).toBe("Bye.");
  expect(stage.takeRequests().at(-1)?.bodyText).toContain("clock ran");
  expect((await answer("stopped", id, { answer: "Rome" })).status).toBe(409);
});

test("a turn that is stopped behind an approval, while another pause is open, carries no plan out", async () => {
  stage.model.script(call("enter_plan_mode"), [call("submit_plan", { plan: "Erase it all." }), call("ask_city")]);
  await stage.say("planned", "plan it");
  const { pauses } = (await pausesOf("planned")).body;
  const plan = pauses.find(({ kind }: { kind: string }) => kind === "plan");
  expect((await answer("planned", plan.id, { decision: "approve" })).body).toMatchObject({ goesOn: false });
  await stage.send("POST", "/api/sessions/planned/stop");
  stage.model.script(say("As you wish."));
  expect((await stage.say("planned", "wait, do nothing")).text).toBe("As you wish.");
  expect(stage.takeRequests().at(-1)?.bodyText).not.toContain("Carry it out");
  expect((await stage.get("/api/sessions/planned")).body.mode).toBe("plan");
});

test("an answer that is given again behind a compaction changes nothing", async () => {
  stage.model.script(say("One."));
  await stage.say("repeated", `first ${"word ".repeat(400)}`);
  const id = await paused("repeated");
  stage.model.script(say("Sunny."));
  expect((await answer("repeated", id, { answer: "Rome" })).body).toMatchObject({ goesOn: true });
  await ended("repeated");
  stage.model.script(say("Summary."));
  expect((await stage.send("POST", "/api/sessions/repeated/compact")).body.compacted).toBe(true);
  expect((await answer("repeated", id, { answer: "Rome" })).body).toEqual({ id, answered: true, goesOn: false });
  expect((await answer("repeated", id, { answer: "Oslo" })).status).toBe(409);
});

test("an answer whose isolate died before the turn went on is given again, and goes on", async () => {
  const id = await paused("stored");
  expect(await stage.object("stored", "answer", id, { kind: "question", answer: "Rome" })).toEqual({
    kind: "answered",
    goesOn: true,
  });
  await stage.workerd.fresh();
  expect((await pausesOf("stored")).body).toEqual({ pauses: [] });
  stage.model.script(say("Sunny."));
  expect((await answer("stored", id, { answer: "Rome" })).body).toMatchObject({ goesOn: true });
  await ended("stored");
  expectAllExtend(stage.takeRequests());
});

test("two answers at once are one turn", async () => {
  const id = await paused("twice");
  stage.model.script(say("Sunny."));
  const both = await Promise.all([answer("twice", id, { answer: "Rome" }), answer("twice", id, { answer: "Rome" })]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  await ended("twice");
  const { body } = await stage.get("/api/sessions/twice/entries");
  expect(body.entries.filter(({ kind }: { kind: string }) => kind === "results")).toHaveLength(1);
  expect(stage.takeRequests()).toHaveLength(2);
});

test("a message closes the pause, and an answer that comes later is refused", async () => {
  const id = await paused("closed");
  stage.model.script(say("Fine."));
  const history = [
    { role: "user", content: "weather?" },
    { role: "assistant", content: `Let me ask.\n\n${QUESTION}` },
  ];
  expect((await stage.say("closed", "never mind", { history })).text).toBe("Fine.");
  expect((await pausesOf("closed")).body).toEqual({ pauses: [] });
  expect(await answer("closed", id, { answer: "Rome" })).toMatchObject({ status: 409 });
  expectAllExtend(stage.takeRequests());
});

test("to ask anew takes the pause back", async () => {
  const id = await paused("anew");
  stage.model.script(say("No need to ask."));
  expect((await stage.say("anew", "weather?")).text).toBe("No need to ask.");
  expect((await pausesOf("anew")).body).toEqual({ pauses: [] });
  expect(await answer("anew", id, { answer: "Rome" })).toMatchObject({ status: 404 });
});

test("what is wrong with an answer is said, and nothing is stored", async () => {
  const id = await paused("wrong");
  const before = (await stage.get("/api/sessions/wrong")).body;
  const bad: [unknown, string | null][] = [
    [{}, "answer"],
    [[], null],
    ["Rome", null],
    [{ answer: "  " }, "answer"],
    [{ answer: null }, "answer"],
    [{ answer: "x".repeat(100_001) }, "answer"],
    [{ answer: "Rome", more: 1 }, null],
    [{ decision: "maybe" }, "decision"],
    [{ decision: "approve", reason: "x" }, null],
    [{ decision: "deny", reason: 1 }, "reason"],
    [{ decision: "approve" }, "answer"],
    [{ decision: "deny", reason: "no" }, "answer"],
  ];
  for (const [body, param] of bad) {
    const { status, error } = await answer("wrong", id, body);
    expect([status, (error as { param?: unknown } | null)?.param], JSON.stringify(body).slice(0, 50)).toEqual([
      400,
      param,
    ]);
  }
  expect((await stage.send("POST", `/api/sessions/wrong/pauses/${id}`, "ann", "{")).status).toBe(400);
  expect((await stage.send("PUT", `/api/sessions/wrong/pauses/${id}`, "ann", "{}")).status).toBe(405);
  expect((await answer("wrong", "pause_0", { answer: "Rome" })).status).toBe(404);
  expect((await answer("no-such", id, { answer: "Rome" })).status).toBe(404);
  expect((await answer("a b", id, { answer: "Rome" })).status).toBe(400);
  expect((await stage.get("/api/sessions/wrong")).body).toEqual(before);
});

test("another owner finds neither the session nor its pause", async () => {
  const id = await paused("ann-only");
  const theirs = [await pausesOf("ann-only", "bob"), await answer("ann-only", id, { answer: "Rome" }, "bob")];
  const nobodys = [await pausesOf("nobodys", "bob"), await answer("nobodys", id, { answer: "Rome" }, "bob")];
  expect(theirs.map(({ status }) => status)).toEqual([404, 404]);
  expect(theirs.map(({ body }) => JSON.stringify(body).replaceAll("ann-only", "nobodys"))).toEqual(
    nobodys.map(({ body }) => JSON.stringify(body)),
  );
});
