import { expect, test } from "vitest";
import * as e from "./index.ts";
import { brief, client, events, final, params } from "./official-client.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator();

test("A-1: plain text comes in pieces between start and stop", async () => {
  const { seen } = await events(emulator(), e.say("Hello"));
  expect(brief(seen)).toEqual([
    "message_start",
    "start 0 text",
    "Hel",
    "lo",
    "stop 0",
    "delta end_turn",
    "message_stop",
  ]);
  const usage = { input_tokens: expect.any(Number), cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  expect(seen[0]).toEqual({
    type: "message_start",
    message: {
      id: expect.stringMatching(/^msg_/),
      type: "message",
      role: "assistant",
      model: "claude-opus-4-8",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: {
        ...usage,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 1,
        service_tier: "standard",
        inference_geo: "not_available",
      },
    },
  });
  expect(seen.at(-2)).toEqual({
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null, stop_details: null },
    usage: { ...usage, output_tokens: expect.any(Number) },
  });
});

test("A-1: records have an event line, data lines end with padding, and a ping comes after the first start", async () => {
  emulator().script(e.say("Hello, this is a longer text."));
  const text = await (await s.post(emulator(), s.request({ stream: true }))).text();
  const records = text.trimEnd().split("\n\n");
  expect(records.every((record) => /^event: \w+\ndata: \{.*\} *$/.test(record))).toBe(true);
  expect(records.filter((record) => record.endsWith("  ")).length).toBeGreaterThan(records.length / 2);
  expect(records[2]).toMatch(/^event: ping/);
});

test("A-2: a tool call starts empty, then an empty fragment, then pieces of JSON", async () => {
  const { seen } = await events(emulator(), e.call("look", { a: 1 }, "toolu_1"));
  expect(brief(seen)).toEqual([
    "message_start",
    "start 0 tool_use",
    "",
    '{"a"',
    ":1}",
    "stop 0",
    "delta tool_use",
    "message_stop",
  ]);
  expect(seen[1]).toMatchObject({
    content_block: { type: "tool_use", id: "toolu_1", name: "look", input: {}, caller: { type: "direct" } },
  });
});

test("A-3: parallel calls come one after the other with ids of their own", async () => {
  const message = await final(emulator(), e.call("look", { n: 1 }), e.call("look", { n: 2 }));
  const calls = message.content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
  expect(calls.map((block) => block.input)).toEqual([{ n: 1 }, { n: 2 }]);
  expect(new Set(calls.map((block) => block.id)).size).toBe(2);
  expect(message.stop_reason).toBe("tool_use");
});

test("A-4: text goes before a call", async () => {
  const message = await final(emulator(), e.say("Let me look."), e.call("look", { where: 'naïve 🙂 "quoted"' }));
  expect(message.content).toMatchObject([
    { type: "text", text: "Let me look." },
    { type: "tool_use", name: "look", input: { where: 'naïve 🙂 "quoted"' } },
  ]);
});

test("A-5: a refusal has details and may have no content", async () => {
  const message = await final(emulator(), e.refuse("cyber", "No."));
  expect(message).toMatchObject({
    content: [],
    stop_reason: "refusal",
    stop_details: { type: "refusal", category: "cyber", explanation: "No." },
  });
});

test("A-6: an answer is cut in mid-word", async () => {
  expect(await final(emulator(), e.cut("A long sto"))).toMatchObject({
    content: [{ type: "text", text: "A long sto" }],
    stop_reason: "max_tokens",
  });
});

test("A-6: a call is cut in its JSON", async () => {
  const { seen } = await events(emulator(), e.cut(e.call("look", '{"a":"b')));
  expect(brief(seen).slice(1)).toEqual([
    "start 0 tool_use",
    "",
    '{"a"',
    ':"b',
    "stop 0",
    "delta max_tokens",
    "message_stop",
  ]);
});

test("A-9: bad JSON arguments pass a raw reader", async () => {
  const { seen, thrown } = await events(emulator(), e.call("look", '{"a": tru}'));
  expect(thrown).toBeUndefined();
  expect(brief(seen).slice(2, -3).join("")).toBe('{"a": tru}');
  expect(brief(seen).at(-2)).toBe("delta tool_use");
});

test("A-10: a server's search has a whole result, what it found is callable, and its tokens add up", async () => {
  const { seen } = await events(emulator(), e.say("Let me search."), e.search("x", ["later"]), e.call("later", {}));
  expect(brief(seen)).toEqual([
    "message_start",
    "start 0 text",
    "Let",
    " m",
    "e searc",
    "h",
    ".",
    "stop 0",
    "start 1 server_tool_use",
    "",
    '{"qu',
    "ery",
    '":"x"}',
    "stop 1",
    "start 2 tool_search_tool_result",
    "stop 2",
    "start 3 tool_use",
    "",
    "{}",
    "stop 3",
    "delta tool_use",
    "message_stop",
  ]);
  const [start] = seen;
  const delta = seen.at(-2);
  if (start?.type !== "message_start" || delta?.type !== "message_delta") throw new Error("The order is wrong.");
  expect(delta.usage.input_tokens ?? 0).toBeGreaterThan(2 * start.message.usage.input_tokens);
});

test("A-11: a paused turn ends with the server's call", async () => {
  const message = await final(emulator(), e.say("One moment."), e.serverCall("web_search", { query: "x" }), e.pause());
  expect(message.content.map((block) => block.type)).toEqual(["text", "server_tool_use"]);
  expect(message.stop_reason).toBe("pause_turn");
});

test("A-12: thinking has one signature, before its stop", async () => {
  const { seen } = await events(emulator(), e.think("Hmm"), e.redacted("x"), e.say("Yes"));
  expect(brief(seen)).toEqual([
    "message_start",
    "start 0 thinking",
    "thinking_delta",
    "signature_delta",
    "stop 0",
    "start 1 redacted_thinking",
    "stop 1",
    "start 2 text",
    "Yes",
    "stop 2",
    "delta end_turn",
    "message_stop",
  ]);
});

test("A-13: a compaction comes first, in one delta", async () => {
  const { seen } = await events(emulator(), e.compact("So far: hello."), e.say("Go on"));
  expect(brief(seen).slice(1, 4)).toEqual(["start 0 compaction", "compaction_delta", "stop 0"]);
});

test("An answer that is not streamed has the same content", async () => {
  emulator().script([e.think("Hmm"), e.say("Let me look."), e.call("look", { a: 1 }, "toolu_1")]);
  const message = await client(emulator()).messages.create(params);
  expect(message).toMatchObject({
    content: [
      { type: "thinking", thinking: "Hmm", signature: expect.any(String) },
      { type: "text", text: "Let me look." },
      { type: "tool_use", id: "toolu_1", name: "look", input: { a: 1 } },
    ],
    stop_reason: "tool_use",
  });
});

test("Warming the cache answers nothing", async () => {
  emulator().script(e.say("unused"));
  const message = await client(emulator()).messages.create({ ...params, max_tokens: 0 });
  expect(message).toMatchObject({ content: [], stop_reason: "max_tokens" });
});

test("Ids are the same for the same requests after a reset", async () => {
  const first = await final(emulator(), e.call("look"));
  emulator().reset();
  const second = await final(emulator(), e.call("look"));
  expect(second.id).toBe(first.id);
  expect(second.content).toEqual(first.content);
});
