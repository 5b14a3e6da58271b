import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ModelEvent } from "../../../src/providers/contract.ts";
import { openai } from "../../../src/providers/openai/provider.ts";
import { failureOf } from "../../../src/values/errors.ts";
import {
  call,
  cut,
  destroyAt,
  errorAt,
  failed,
  filtered,
  type OpenAIEmulator,
  outOfQuota,
  overloaded,
  rateLimited,
  refuse,
  say,
  startOpenAIEmulator,
  think,
} from "../../emulators/openai/index.ts";

let emulator: OpenAIEmulator;
beforeAll(async () => {
  emulator = await startOpenAIEmulator();
});
afterEach(() => emulator.reset());
afterAll(() => emulator.close());

const MODEL = "gpt-5.4";
const SEARCH = { name: "tool_search", description: "Finds tools.", inputSchema: { type: "object" } };
const CLOCK = { name: "clock", description: "The time.", inputSchema: { type: "object" } };

const BODY = openai.body({
  model: MODEL,
  prefix: {
    settings: openai.settings(MODEL, {}, "key"),
    tools: [CLOCK, SEARCH].map((tool) => openai.define(tool, false, MODEL)),
    system: [],
    ttl: "5m",
  },
  deferred: [],
  items: [
    { seq: 1, role: "user", bytes: '{"role":"user","content":[{"type":"input_text","text":"hi"}]}', markable: true },
  ],
  withheld: [],
  anchor: null,
  call: { maxOutputTokens: 2000 },
  previous: null,
  blobs: new Map(),
}).body;

async function read(signal = new AbortController().signal): Promise<{ events: ModelEvent[]; error: unknown }> {
  const env = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: emulator.url } as Cloudflare.Env;
  const events: ModelEvent[] = [];
  try {
    for await (const event of openai.stream(MODEL, BODY, { env, signal })) events.push(event);
    return { events, error: null };
  } catch (error) {
    return { events, error };
  }
}

const blocks = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === "block" ? [event.block] : []));

test("our own bytes are what arrives", async () => {
  emulator.script(say("Hello."));
  await read();
  expect(emulator.requests.at(-1)?.bodyText).toBe(BODY);
});

test("text comes in pieces, then as a block with all that the API said of it, then the usage and the reason to stop", async () => {
  emulator.script(say("Hello there, friend."));
  const { events } = await read();
  expect(events[0]).toMatchObject({ type: "begun", id: expect.stringMatching(/^resp_/) });
  const pieces = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join("")).toBe("Hello there, friend.");
  const [block] = blocks(events);
  expect(block).toMatchObject({ type: "text", text: "Hello there, friend." });
  expect(JSON.parse(block?.type === "text" ? (block.raw ?? "") : "")).toMatchObject({ phase: "final_answer" });
  expect(events.at(-2)).toMatchObject({ type: "usage", usage: { cacheRead: 0, cacheWrite: 0 } });
  expect(events.at(-1)).toEqual({ type: "stop", stop: "end" });
});

test("reasoning keeps its encrypted form, and calls the text of their arguments", async () => {
  const input = '{"10":1,"2":12345678901234567890,"a":"\\u00e9"}';
  emulator.script([think("hm"), say("Let me see."), call("clock", input, "call_1"), call("clock")]);
  const { events } = await read();
  const [thinking, text, first, second] = blocks(events);
  expect(JSON.parse(thinking?.type === "thinking" ? thinking.raw : "")).toMatchObject({
    type: "reasoning",
    encrypted_content: expect.stringMatching(/./),
  });
  expect(text).toMatchObject({
    type: "text",
    text: "Let me see.",
    raw: expect.stringContaining('"phase":"commentary"'),
  });
  expect(first).toMatchObject({ type: "call", id: "call_1", name: "clock", input });
  expect(JSON.parse(first?.type === "call" ? (first.raw ?? "") : "")).toMatchObject({
    call_id: "call_1",
    arguments: input,
  });
  expect(second).toMatchObject({ type: "call", name: "clock", input: "{}" });
  expect(events.at(-1)).toEqual({ type: "stop", stop: "calls" });
});

test("the search that the client executes is a call of the search tool", async () => {
  emulator.script(call("tool_search", { query: "weather" }, "call_s"));
  const { events } = await read();
  expect(blocks(events)).toMatchObject([
    {
      type: "call",
      id: "call_s",
      name: "tool_search",
      input: '{"query":"weather"}',
      raw: expect.stringContaining('"tool_search_call"'),
    },
  ]);
  expect(events.at(-1)).toEqual({ type: "stop", stop: "calls" });
});

test("arguments that are no JSON are passed on as they came", async () => {
  emulator.script(call("clock", '{"a": tru', "call_1"));
  expect(blocks((await read()).events)).toMatchObject([{ type: "call", id: "call_1", input: '{"a": tru' }]);
});

test("a refusal, a filtered answer and a cut one say so", async () => {
  emulator.script(refuse("No."), [say("half"), filtered()], cut("half a wo"), cut(call("clock", '{"a":"b')));
  const refused = await read();
  expect(blocks(refused.events)).toMatchObject([{ type: "text", text: "No." }]);
  expect(refused.events.at(-1)).toEqual({ type: "stop", stop: "refusal" });
  expect((await read()).events.at(-1)).toMatchObject({
    type: "stop",
    stop: "refusal",
    detail: expect.stringContaining("filter"),
  });
  const half = await read();
  expect(blocks(half.events)).toEqual([{ type: "text", text: "half a wo" }]);
  expect(half.events.at(-1)).toEqual({ type: "stop", stop: "length" });
  const cutCall = await read();
  expect(blocks(cutCall.events)).toEqual([]);
  expect(cutCall.events.at(-1)).toEqual({ type: "stop", stop: "length" });
});

test("errors in mid-stream in all three forms, and a cut connection, are failures; what came before them stays", async () => {
  const text = say("Hello there, friend.");
  emulator.script(
    [text, errorAt(6, "flat")],
    [text, errorAt(6, "nested", "rate_limit_exceeded")],
    [text, failed("server_error", "It broke.")],
    [text, destroyAt(6)],
  );
  for (const type of ["server_error", "rate_limit_exceeded", "server_error", "connection"]) {
    const { events, error } = await read();
    expect(events.some((event) => event.type === "text")).toBe(true);
    expect(failureOf(error)).toMatchObject({ reason: "provider", status: null, type });
  }
});

test("a rate limit that lasts reaches the caller with its status, its sentence and its retry-after", async () => {
  emulator.fail(rateLimited(), rateLimited());
  const { error } = await read();
  expect(failureOf(error)).toMatchObject({
    ...{ reason: "provider", status: 429, type: "rate_limit_exceeded", retryAfter: 1 },
    message: expect.stringContaining("Rate limit reached"),
  });
});

test("no money left is said as that", async () => {
  emulator.fail(outOfQuota(), outOfQuota());
  expect(failureOf((await read()).error)).toMatchObject({ status: 429, type: "insufficient_quota" });
});

test("an overload that passes is tried again, once", async () => {
  emulator.fail(overloaded());
  emulator.script(say("Here."));
  const { events, error } = await read();
  expect(error).toBeNull();
  expect(events.at(-1)).toEqual({ type: "stop", stop: "end" });
});

test("an abort ends the request", async () => {
  const controller = new AbortController();
  emulator.script(say("too late"));
  const parking = emulator.park(() => true);
  const reading = read(controller.signal);
  await parking.parked;
  controller.abort();
  expect((await reading).error).not.toBeNull();
  parking.release();
});
