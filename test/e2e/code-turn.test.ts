import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { TurnEvent } from "../../src/values/turn-event.ts";
import { call, type Emulator, httpFailure, say, startAnthropicEmulator } from "../emulators/anthropic/index.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import { expectAllExtend, KEYS } from "./chat.ts";

let model: Emulator;
let workerd: Workerd;
beforeAll(async () => {
  model = await startAnthropicEmulator();
  workerd = await startWorkerd({
    entry: "test/e2e/code-turn-worker.ts",
    bindings: {
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: model.url,
      HOLDFAST_API_KEYS: `ann:${KEYS.ann}`,
    },
    verbose: process.env.VERBOSE !== undefined,
  });
});
afterAll(async () => {
  await workerd.dispose();
  await model.close();
});
beforeEach(() => model.reset());

const ann = { id: "ann", name: "Ann", roles: ["user"] };

/** Lets the worker start a turn from its own code. Answers the turn's events. */
async function tick(conversation: string, input: unknown, more: object = {}): Promise<TurnEvent[]> {
  const turn = { agent: "reporter", owner: ann, conversation, input, ...more };
  const response = await workerd.fetch("/tick", { method: "POST", body: JSON.stringify(turn) });
  return (await response.json()) as TurnEvent[];
}

async function get(path: string) {
  const response = await workerd.fetch(path, { headers: { authorization: `Bearer ${KEYS.ann}` } });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  return (await response.json()) as any;
}

test("a turn from code yields numbered events, from `started` to `done`", async () => {
  model.script([say("Looking."), call("clock", {}, "call_1")], say("It is noon."));
  const events = await tick("events", "what time is it?");
  expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1));
  expect(events.map(({ type }) => type).filter((type) => type !== "text")).toEqual([
    "started",
    "request",
    "answering",
    "call",
    "result",
    "request",
    "answering",
    "done",
  ]);
  expect(events[0]).toMatchObject({ conversation: "events", agent: "reporter" });
  expect(events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")).toBe("Looking.It is noon.");
  const done = events.at(-1);
  expect(done).toMatchObject({ type: "done", stop: "end" });
  const spent = model.requests.reduce((sum, { usage }) => sum + (usage?.input_tokens ?? 0), 0);
  if (done?.type === "done") expect(done.usage.input).toBe(spent);
  expect(model.requests[0]?.bodyText).toContain("You report to Ann.");
});

test("turns from code and over HTTP go on with one another, in fresh isolates too", async () => {
  model.script(say("First."), say("Second."), say("Third."));
  await tick("shared", "one");
  await workerd.fresh();
  const response = await workerd.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS.ann}`, "x-conversation-id": "shared" },
    body: JSON.stringify({ messages: [{ role: "user", content: "two" }] }),
  });
  expect(response.headers.get("x-holdfast-prefix")).toBe("extends");
  await response.text();
  const events = await tick("shared", [{ type: "text", text: "three" }]);
  expect(events.find(({ type }) => type === "request")).toMatchObject({ verdict: { prefix: "extends" } });
  expect(model.requests).toHaveLength(3);
  expectAllExtend(model.requests);
});

test("the same words again are a new message, as nobody resends a history here", async () => {
  model.script(say("Noon."), say("One."));
  await tick("again", "what time is it?");
  await tick("again", "what time is it?");
  expect((await get("/api/sessions/again")).entries).toBe(4);
  expectAllExtend(model.requests);
});

test("a turn whose events nobody reads goes on to its end", async () => {
  model.script([call("clock")], say("It is noon."));
  expect(await tick("unread", "what time is it?", { read: false })).toEqual([]);
  await vi.waitFor(async () => expect(await get("/api/sessions/unread")).toMatchObject({ entries: 4, running: false }));
});

test("a turn that fails yields `failed` as its last event, with a readable reason", async () => {
  model.fail(httpFailure(400, "invalid_request_error", "messages: no."));
  const events = await tick("failed", "what time is it?");
  expect(events.map(({ type }) => type)).toEqual(["started", "request", "failed"]);
  expect(events.at(-1)).toMatchObject({
    failure: { reason: "provider", message: expect.stringContaining("messages: no.") },
  });
});

test("an agent that does not exist, or an id that is none, is thrown at once", async () => {
  expect(await tick("x", "hi", { agent: "nobody" })).toEqual({ thrown: 'Error: there is no agent named "nobody"' });
  expect(await tick("a/b", "hi")).toEqual({ thrown: expect.stringContaining("a conversation id is 1 to 128") });
  expect(model.requests).toEqual([]);
});
