import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { anthropic } from "../../../src/providers/anthropic/provider.ts";
import type { ModelEvent } from "../../../src/providers/contract.ts";
import { failureOf } from "../../../src/values/errors.ts";
import {
  call,
  cut,
  destroyAt,
  type Emulator,
  errorAt,
  overloaded,
  pause,
  rateLimited,
  redacted,
  refuse,
  say,
  serverCall,
  startAnthropicEmulator,
  think,
} from "../../emulators/anthropic/index.ts";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startAnthropicEmulator();
});
afterEach(() => emulator.reset());
afterAll(() => emulator.close());

const BODY = JSON.stringify({
  model: "claude-sonnet-4-5",
  max_tokens: 2000,
  thinking: { type: "enabled", budget_tokens: 1024 },
  stream: true,
  tools: [{ name: "clock", description: "The time.", input_schema: { type: "object" } }],
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
});

async function read(signal = new AbortController().signal): Promise<{ events: ModelEvent[]; error: unknown }> {
  const env = { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: emulator.url } as Cloudflare.Env;
  const events: ModelEvent[] = [];
  try {
    for await (const event of anthropic.stream("claude-sonnet-4-5", BODY, { env, signal })) events.push(event);
    return { events, error: null };
  } catch (error) {
    return { events, error };
  }
}

const blocks = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === "block" ? [event.block] : []));

test("text comes in pieces, then as a block, then the usage and the reason to stop", async () => {
  emulator.script(say("Hello there, friend."));
  const { events } = await read();
  expect(events[0]).toMatchObject({ type: "begun" });
  const pieces = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join("")).toBe("Hello there, friend.");
  expect(blocks(events)).toEqual([{ type: "text", text: "Hello there, friend." }]);
  expect(events.at(-2)).toMatchObject({ type: "usage", usage: { cacheRead: 0 } });
  expect(events.at(-1)).toEqual({ type: "stop", stop: "end" });
});

test("thinking keeps its signature, and calls keep the text of their input", async () => {
  const input = '{"10":1,"2":12345678901234567890,"a":"\\u00e9"}';
  emulator.script([think("hm"), redacted("xyz"), say("Let me see."), call("clock", input, "toolu_1"), call("clock")]);
  const { events } = await read();
  const [thinking, hidden, text, first, second] = blocks(events);
  expect(thinking).toMatchObject({ type: "thinking", text: "hm" });
  expect(JSON.parse(thinking?.type === "thinking" ? thinking.raw : "")).toMatchObject({
    type: "thinking",
    thinking: "hm",
    signature: expect.stringMatching(/./),
  });
  expect(hidden).toEqual({ type: "thinking", text: "", raw: '{"type":"redacted_thinking","data":"xyz"}' });
  expect(text).toEqual({ type: "text", text: "Let me see." });
  expect(first).toEqual({ type: "call", id: "toolu_1", name: "clock", input });
  expect(second).toMatchObject({ type: "call", name: "clock", input: "{}" });
  expect(events.at(-1)).toEqual({ type: "stop", stop: "calls" });
});

test("half a surrogate pair in a call's input is mended, for the API takes none back", async () => {
  emulator.script(call("clock", '{"a":"x\ud83dy"}', "toolu_1"));
  const { events } = await read();
  expect(blocks(events)).toEqual([{ type: "call", id: "toolu_1", name: "clock", input: '{"a":"x\ufffdy"}' }]);
});

test("input that is no JSON is passed on as it came", async () => {
  emulator.script(call("clock", '{"a": tru}', "toolu_1"));
  const { events } = await read();
  expect(blocks(events)).toEqual([{ type: "call", id: "toolu_1", name: "clock", input: '{"a": tru}' }]);
});

test("a refusal, a cut answer and a pause say so", async () => {
  emulator.script(refuse("cyber", "No."), cut("half a wo"), cut(call("clock", '{"a":"b')), [
    serverCall("web_search"),
    pause(),
  ]);
  expect((await read()).events.at(-1)).toEqual({ type: "stop", stop: "refusal", detail: "No." });
  expect((await read()).events.at(-1)).toEqual({ type: "stop", stop: "length" });
  expect((await read()).events.at(-1)).toEqual({ type: "stop", stop: "length" });
  const paused = await read();
  expect(blocks(paused.events)).toMatchObject([{ type: "opaque", raw: expect.stringContaining("server_tool_use") }]);
  expect(paused.events.at(-1)).toEqual({ type: "stop", stop: "paused" });
});

test("an error in mid-stream and a cut connection are failures, and what came before them stays", async () => {
  emulator.script([say("Hello there, friend."), errorAt(4)], [say("Hello there, friend."), destroyAt(4)]);
  for (const type of ["overloaded_error", "connection"]) {
    const { events, error } = await read();
    expect(events.some((event) => event.type === "text")).toBe(true);
    expect(failureOf(error)).toMatchObject({ reason: "provider", type });
  }
});

test("a rate limit that lasts reaches the caller with its status, its sentence and its retry-after", async () => {
  emulator.fail(rateLimited(), rateLimited());
  const { error } = await read();
  expect(failureOf(error)).toMatchObject({ reason: "provider", status: 429, type: "rate_limit_error", retryAfter: 1 });
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

test("thinking that was cut off before its signature is no block", async () => {
  const { readStream } = await import("../../../src/providers/anthropic/stream.ts");
  type Events = Parameters<typeof readStream>[0] extends AsyncIterable<infer E> ? E[] : never;
  const usage = { input_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
  const events = [
    { type: "message_start", message: { id: "msg_1", usage } },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "half a th" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "max_tokens", stop_details: null }, usage },
    { type: "message_stop" },
  ] as unknown as Events;
  const read: ModelEvent[] = [];
  for await (const event of readStream(
    (async function* () {
      yield* events;
    })(),
  )) {
    read.push(event);
  }
  expect(blocks(read)).toEqual([]);
  expect(read.at(-1)).toEqual({ type: "stop", stop: "length" });
});
