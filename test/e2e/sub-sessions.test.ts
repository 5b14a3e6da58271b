import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { call, say } from "../emulators/anthropic/index.ts";
import { expectAllExtend, type Stage, startStage } from "./chat.ts";
import { type Hook, startHook } from "./hook.ts";

let hook: Hook;
let stage: Stage;
beforeAll(async () => {
  hook = await startHook();
  stage = await startStage(
    { MODEL: "anthropic/claude-sonnet-5", HOOK: hook.url, HOLDFAST_LEASE_SECONDS: "3" },
    { entry: "test/e2e/modes-worker.ts" },
  );
});
afterAll(async () => {
  await stage.close();
  await hook.close();
});
beforeEach(() => {
  stage.model.reset();
  stage.takeRequests();
});

const handOver = call("transfer_task", { agent: "helper", task: "Wait for it." });
const ask = (conversation: string) => stage.say(conversation, "Go.", { agent: "boss" });

interface Handed {
  readonly name: string;
  readonly status: string;
  readonly session?: { readonly agent: string; readonly id: string; readonly entries?: readonly { kind: string }[] };
}

async function resultsOf(conversation: string): Promise<Handed[]> {
  const { body } = await stage.get(`/agents/boss/api/sessions/${conversation}/entries`);
  return body.entries.flatMap((entry: { results?: Handed[] }) => entry.results ?? []);
}

/** The requests of each of the two agents, as the provider saw them. */
function requestsOf(who: "boss" | "helper") {
  return stage.takeRequests().filter(({ bodyText }) => bodyText.includes(`You are the ${who}.`));
}

/** The rows of a parent and of its sub-sessions. */
async function inD1(
  conversation: string,
): Promise<{ conversation: string; parent: string | null; tool_deferrals: string }[]> {
  const query = `SELECT conversation, parent, tool_deferrals FROM sessions
    WHERE rev > 0 AND (conversation = ? OR parent = ?) ORDER BY parent`;
  const { results } = await (await stage.workerd.d1())
    .prepare(query)
    .bind(conversation, JSON.stringify(["ann", "boss", conversation]))
    .all<{ conversation: string; parent: string | null; tool_deferrals: string }>();
  return results;
}

test("a sub-session is read along with its parent, is in no list, and is in D1 once it has ended", async () => {
  stage.model.script(
    handOver,
    call("tool_search", { query: "weather" }),
    call("wait"),
    say("Waited."),
    say("The helper waited."),
  );
  const turn = ask("read");
  const waiting = await hook.next();
  await vi.waitFor(async () => expect(await inD1("read")).toHaveLength(1));
  waiting.answer("over");
  expect((await turn).text).toBe("The helper waited.");

  const [handed] = await resultsOf("read");
  expect(handed).toMatchObject({ name: "transfer_task", status: "ok", session: { agent: "helper" } });
  expect(handed?.session?.entries?.map(({ kind }) => kind)).toEqual([
    ...["user", "assistant", "results", "assistant", "results", "assistant"],
  ]);
  const id = handed?.session?.id ?? "";
  await vi.waitFor(async () => expect(await inD1("read")).toHaveLength(2));
  const [, row] = await inD1("read");
  expect(row).toMatchObject({ conversation: id, parent: '["ann","boss","read"]' });
  expect(JSON.parse(row?.tool_deferrals ?? "{}").initial).toContain("clock");
  expect((await stage.get("/agents/helper/api/sessions")).body).toEqual({ sessions: [] });
  expect((await stage.get(`/agents/helper/api/sessions/${id}`)).body).toMatchObject({ id, status: "done" });
  expect((await stage.get(`/agents/helper/api/sessions/${id}`, "bob")).status).toBe(404);

  await stage.workerd.wipeObjects();
  const [rebuilt] = await resultsOf("read");
  expect(rebuilt?.session?.entries).toHaveLength(6);
});

test("stopping the parent stops what it handed over", async () => {
  stage.model.script(handOver, call("wait"));
  const turn = ask("stopped");
  const waiting = await hook.next();
  expect((await stage.send("POST", "/agents/boss/api/sessions/stopped/stop", "ann")).status).toBe(200);
  expect(await waiting.over).toBe("left");
  await turn;
  const [handed] = await resultsOf("stopped");
  expect(handed?.status).toBe("interrupted");
  const child = await stage.get(`/agents/helper/api/sessions/${handed?.session?.id}`);
  expect(child.body.status).toBe("stopped");
});

test("a process that dies under both: each is taken up, and the call that is run again joins its sub-session", async () => {
  stage.model.script(handOver, call("wait"));
  ask("killed").catch(() => undefined);
  const before = await hook.next();
  await stage.workerd.fresh();
  stage.model.script(say("Waited."), say("The helper waited."));
  const again = await hook.next();
  expect(again.id).toBe(before.id);
  again.answer("over");
  await vi.waitFor(
    async () => expect((await stage.get("/agents/boss/api/sessions/killed")).body.status).toBe("done"),
    20_000,
  );
  const [handed, ...others] = await resultsOf("killed");
  expect(others).toEqual([]);
  expect(handed?.status).toBe("ok");
  expect(handed?.session?.entries?.map(({ kind }) => kind)).toEqual(["user", "assistant", "results", "assistant"]);
  const requests = requestsOf("helper");
  expect(requests).toHaveLength(2);
  expectAllExtend(requests);
});

test("stopping the parent stops what it handed over, too, when the process of both has died", async () => {
  stage.model.script(handOver, call("wait"));
  ask("orphans").catch(() => undefined);
  await hook.next();
  await stage.workerd.fresh();
  expect((await stage.send("POST", "/agents/boss/api/sessions/orphans/stop", "ann")).status).toBe(200);
  await vi.waitFor(
    async () => expect((await stage.get("/agents/boss/api/sessions/orphans")).body.status).toBe("stopped"),
    20_000,
  );
  const query = "SELECT conversation, parent FROM sessions WHERE parent = ? AND rev > 0";
  const d1 = await stage.workerd.d1();
  const child = await vi.waitFor(async () => {
    const row = await d1.prepare(query).bind('["ann","boss","orphans"]').first<{ conversation: string }>();
    if (row === null) throw new Error("not ended yet");
    return row.conversation;
  }, 20_000);
  expect((await stage.get(`/agents/helper/api/sessions/${child}`)).body.status).toBe("stopped");
  // Nobody went on with it.
  expect(requestsOf("helper")).toHaveLength(1);
});

test("sub-sessions are deleted with their parent, that of a call that is running included", async () => {
  stage.model.script(handOver, say("Helped."), say("The helper helped."));
  expect((await ask("deleted")).text).toBe("The helper helped.");
  stage.model.script(handOver, call("wait"));
  const turn = ask("deleted");
  const waiting = await hook.next();
  const children = (await resultsOf("deleted")).flatMap(({ session }) => session?.id ?? []);
  const copy = (await stage.send("POST", "/agents/boss/api/sessions/deleted/clone")).body.id;
  expect((await stage.send("DELETE", `/agents/boss/api/sessions/${copy}`)).status).toBe(200);
  for (const child of children) expect((await stage.get(`/agents/helper/api/sessions/${child}`)).status).toBe(200);

  expect((await stage.send("DELETE", "/agents/boss/api/sessions/deleted")).status).toBe(200);
  expect(await waiting.over).toBe("left");
  await turn;
  for (const child of children) expect((await stage.get(`/agents/helper/api/sessions/${child}`)).status).toBe(404);
  expect(await inD1("deleted")).toEqual([]);
  const left = "SELECT count(*) AS n FROM sessions WHERE agent = 'helper' AND deleted_at IS NOT NULL";
  expect(await (await stage.workerd.d1()).prepare(left).first()).toEqual({ n: 2 });
});
