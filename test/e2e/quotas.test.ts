import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { allStored } from "../all-stored.ts";
import { call, say } from "../emulators/anthropic/index.ts";
import { KEYS, type Stage, startStage } from "./chat.ts";
import { type Hook, startHook } from "./hook.ts";

/** What the platform's rate limit lets through for an owner. Ann makes far fewer requests here. */
const REQUESTS = 60;

let stage: Stage;
let hook: Hook;
beforeAll(async () => {
  hook = await startHook();
  stage = await startStage(
    { HOOK: hook.url, QUOTAS: JSON.stringify({ turns: 1 }) },
    { entry: "test/e2e/quotas-worker.ts", requestsPerMinute: REQUESTS },
  );
});
afterAll(async () => {
  await stage.close();
  await hook.close();
});
beforeEach(() => stage.model.reset());

/** Turns that D1 counts as running. */
async function admitted(): Promise<number> {
  const row = await (await stage.workerd.d1()).prepare("SELECT count(*) AS n FROM admissions").first<{ n: number }>();
  return row?.n ?? -1;
}

/** Every turn so far has ended, and D1 knows it. */
const allEnded = () => vi.waitFor(async () => expect(await admitted()).toBe(0), { timeout: 10_000 });

test("a turn above the quota is refused with 429 before anything is stored, and the next one runs", async () => {
  await allEnded();
  stage.model.script(call("wait", {}), say("First."), say("Second."));
  const first = stage.say("one", "wait for it");
  const waiting = await hook.next();
  expect(await admitted()).toBe(1);
  const before = await allStored(stage.workerd);
  const refused = await stage.say("two", "me too");
  expect(refused.status).toBe(429);
  expect(refused.error?.code).toBe("rate_limit_exceeded");
  expect(refused.error?.message).toContain("the quota of 1 at once");
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.headers.get("x-should-retry")).toBeNull();
  const after = await allStored(stage.workerd);
  expect(after).toEqual(before);
  waiting.answer("done");
  expect((await first).text).toBe("First.");
  await allEnded();
  expect((await stage.say("two", "and now?")).text).toBe("Second.");
});

test("an answer to a pause that can't go on is not taken, and one that is given again changes nothing", async () => {
  await allEnded();
  const answer = async (id: string, pause: string) =>
    stage.send("POST", `/api/sessions/${id}/pauses/${pause}`, "ann", '{"answer":"This."}');
  const paused = async (id: string): Promise<string> => {
    stage.model.script(call("asks"));
    await stage.say(id, "ask me");
    const { pauses } = (await stage.get(`/api/sessions/${id}/pauses`)).body;
    await allEnded();
    return pauses[0].id;
  };
  const [old, open] = [await paused("old"), await paused("open")];
  stage.model.script(say("Thanks."));
  expect((await answer("old", old)).body).toMatchObject({ goesOn: true });
  await allEnded();
  stage.model.script(call("wait", {}), say("Waited."));
  const running = stage.say("three", "wait for it");
  const waiting = await hook.next();
  expect((await answer("open", open)).status).toBe(429);
  expect((await answer("old", old)).body).toMatchObject({ answered: true, goesOn: false });
  waiting.answer("done");
  await running;
  await allEnded();
  stage.model.script(say("At last."));
  expect((await answer("open", open)).body).toMatchObject({ goesOn: true });
  await allEnded();
  expect((await stage.get("/api/sessions/open")).body.status).toBe("done");
});

test("a request that comes again is told its turn, running or over, though a quota is used up", async () => {
  await allEnded();
  const key = (value: string) => ({ headers: { "idempotency-key": value } });
  // Answers as soon as the turn tells something, so while its tool still waits.
  const stream = (headers: Record<string, string> = {}) =>
    stage.workerd.fetch("/v1/chat/completions", {
      method: "POST",
      headers: {
        authorization: `Bearer ${KEYS.ann}`,
        "content-type": "application/json",
        "x-conversation-id": "running",
        ...headers,
      },
      body: JSON.stringify({ model: "tester", stream: true, messages: [{ role: "user", content: "wait for it" }] }),
    });
  stage.model.script(say("Over."), [say("I wait."), call("wait", {})], say("Waited for."));
  const over = await stage.say("over", "be quick", key("o"));
  await allEnded();
  const running = await stream(key("r").headers);
  const waiting = await hook.next();
  const d1 = await stage.workerd.d1();
  const day = new Date().toISOString().slice(0, 10);
  await d1.prepare("UPDATE usage SET output = output + 1000000000 WHERE owner = 'ann' AND day = ?").bind(day).run();
  onTestFinished(async () => {
    await allEnded();
    await d1.prepare("UPDATE usage SET output = 0 WHERE owner = 'ann'").run();
  });
  const before = await allStored(stage.workerd);
  expect((await stage.say("over", "be quick", key("o"))).text).toBe(over.text);
  expect((await stage.say("over", "another", key("o"))).status).toBe(422);
  expect((await stage.say("over", "be quick", key("new"))).status).toBe(429);
  expect(await allStored(stage.workerd)).toEqual(before);
  const again = await stream(key("r").headers);
  const retried = await stream({ "x-stainless-retry-count": "1" });
  waiting.answer("done");
  for (const response of [running, again, retried]) {
    expect(response.status).toBe(200);
    const pieces = (await response.text()).matchAll(/"content":("[^"]*")/g);
    expect(Array.from(pieces, ([, text = ""]) => JSON.parse(text)).join("")).toContain("Waited for.");
  }
});

test("a turn that takes longer than its agent's seconds ends readably in the middle of a tool, and the session goes on", async () => {
  await allEnded();
  stage.model.script(call("wait", {}), say("Better."));
  const begun = Date.now();
  const said = stage.say("slow", "wait for it", { agent: "brief" });
  const waiting = await hook.next();
  expect(await said).toMatchObject({ status: 422, error: { code: "seconds_limit" } });
  expect((await said).error?.message).toContain("1 seconds");
  expect(Date.now() - begun).toBeLessThan(10_000);
  expect(await waiting.over).toBe("left");
  await allEnded();
  const { entries } = (await stage.get("/agents/brief/api/sessions/slow/entries")).body;
  expect(entries.at(-1)).toMatchObject({ kind: "results", results: [{ name: "wait", status: "interrupted" }] });
  expect((await stage.say("slow", "again", { agent: "brief" })).text).toBe("Better.");
});

test("a turn that used its agent's tokens makes no further model call, and the session goes on", async () => {
  await allEnded();
  stage.model.script(call("echo", {}), say("Fine."));
  expect(await stage.say("dear", "echo", { agent: "frugal" })).toMatchObject({
    ...{ status: 422, error: { code: "tokens_limit" } },
  });
  await allEnded();
  expect((await stage.say("dear", "again", { agent: "frugal" })).text).toBe("Fine.");
});

test("where the platform's rate limit is bound, an owner's requests above it get 429, and another owner's don't", async () => {
  let through = 0;
  let reply = await stage.get("/v1/models", "bob");
  // The limiter counts by the minute, and another one may begin in between.
  for (; reply.status === 200 && through <= 2 * REQUESTS; through += 1) reply = await stage.get("/v1/models", "bob");
  expect([reply.status, reply.error?.code]).toEqual([429, "rate_limit_exceeded"]);
  expect(reply.headers.get("retry-after")).toBe("10");
  expect(through).toBeGreaterThanOrEqual(REQUESTS);
  expect((await stage.get("/v1/models")).status).toBe(200);
});
