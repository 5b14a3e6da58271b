import OpenAI from "openai";
import { expect, test } from "vitest";
import * as e from "./index.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator();
const deltas = (seen: Awaited<ReturnType<typeof s.chunksOf>>["seen"]) => seen.map(({ choices }) => choices[0]?.delta);

test("A text comes in fragments, then why it ended, then the usage", async () => {
  const { seen, thrown } = await s.chunksOf(emulator(), e.say("Hello there"));
  expect(thrown).toBeUndefined();
  expect(deltas(seen)).toEqual([
    { role: "assistant", content: "", refusal: null },
    { content: "Hel" },
    { content: "lo" },
    { content: " there" },
    {},
    undefined,
  ]);
  expect(seen.at(-2)?.choices[0]?.finish_reason).toBe("stop");
  expect(seen.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
  expect(seen[0]?.usage).toBeNull();
});

test("Calls have their id and name first, then pieces of their arguments, one call after the other", async () => {
  const { seen } = await s.chunksOf(emulator(), [e.call("look", { a: 1 }, "call_1"), e.call("look", "{}", "call_2")]);
  expect(deltas(seen).slice(1, -2)).toEqual([
    { tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "" } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
    { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] },
    { tool_calls: [{ index: 1, id: "call_2", type: "function", function: { name: "look", arguments: "" } }] },
    { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
  ]);
  expect(seen.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
});

test.for([
  ["cut in mid-word", e.cut("A long sto"), "length"],
  ["ended by the content filter", [e.say("Once"), e.filtered()], "content_filter"],
  ["a refusal", e.refuse("No."), "stop"],
  ["cut in a call", e.cut(e.call("look", '{"a":"b')), "length"],
] as const)("An answer can be %s", async ([, said, reason]) => {
  emulator().script(said);
  const { choices } = await s.client(emulator()).chat.completions.create(s.params);
  expect(choices[0]?.finish_reason).toBe(reason);
});

test("An answer that is not streamed has the same content", async () => {
  emulator().script([e.say("Let me look."), e.call("look", { a: 1 }, "call_1")]);
  const { choices } = await s.client(emulator()).chat.completions.create(s.params);
  expect(choices[0]).toMatchObject({
    message: {
      content: "Let me look.",
      tool_calls: [{ id: "call_1", function: { name: "look", arguments: '{"a":1}' } }],
    },
    finish_reason: "tool_calls",
  });
});

test("A stream ends with [DONE], unless it is cut, when what was sent has arrived", async () => {
  emulator().script(e.say("Hello"), [e.say("Hello"), e.destroyAt(2)]);
  const body = s.request({ stream: true });
  expect(await (await s.post(emulator(), body)).text()).toMatch(/data: \[DONE\]\n\n$/);
  await expect((await s.post(emulator(), body)).text()).rejects.toThrow();
  expect(emulator().requests.map(({ outcome, events }) => [outcome, events])).toEqual([
    ["answered", 5],
    ["cut", 2],
  ]);
});

test("An error in mid-stream is thrown by the official client", async () => {
  const { seen, thrown } = await s.chunksOf(emulator(), [e.say("Hello"), e.errorAt(2)]);
  expect(seen).toHaveLength(2);
  expect(thrown).toBeInstanceOf(OpenAI.APIError);
});

test.for([
  ["rateLimited", e.rateLimited(2), 429, "2"],
  ["outOfQuota", e.outOfQuota(), 429, null],
  ["overloaded", e.overloaded(3), 503, "3"],
  ["serverError", e.serverError(), 500, null],
] as const)("%s is answered in place of a completion", async ([, failure, status, retryAfter]) => {
  emulator().fail(failure);
  const response = await s.post(emulator(), s.request());
  expect([response.status, response.headers.get("retry-after")]).toEqual([status, retryAfter]);
});

test("A scripted call of what is not offered is a problem of the test", async () => {
  emulator().script(e.call("absent"));
  expect((await s.post(emulator(), s.request())).status).toBe(500);
  expect(emulator().takeProblems()[0]?.message).toMatch(/'absent', which this request does not make visible/);
});

test("tool_choice narrows what can be called", async () => {
  emulator().answer(() => e.say("ok"));
  const tools = [s.tool("a"), s.tool("b")];
  const named = { type: "function", function: { name: "b" } };
  for (const tool_choice of [
    "auto",
    "none",
    named,
    { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [named] } },
  ]) {
    await s.post(emulator(), s.request({ tools, tool_choice }));
  }
  expect(emulator().requests.map(({ visible }) => visible)).toEqual([["a", "b"], [], ["b"], ["b"]]);
});

test("A prompt that begins as an earlier one reads it from the cache, in steps of 128 tokens", async () => {
  emulator().answer(() => e.say("ok"));
  const long = s.user("word".repeat(2000));
  await s.post(emulator(), s.request({ messages: [long] }));
  await s.post(emulator(), s.request({ messages: [long, s.assistant("ok"), s.user("And?")] }));
  await s.post(emulator(), s.request({ messages: [s.user(`!${"word".repeat(2000)}`)] }));
  await s.post(emulator(), s.request({ messages: [long], prompt_cache_key: "another" }));
  const cached = emulator().requests.map(({ usage }) => usage?.input_tokens_details.cached_tokens);
  expect(cached).toEqual([0, 1920, 0, 0]);
  expect(emulator().requests.at(-1)?.idealCachedTokens).toBe(1920);
});

test("Tool output that has left its message is flagged", async () => {
  emulator().answer(() => e.say("ok"));
  const [told, repeated] = [s.answer("a", "canary-a1"), s.user("You said canary-a1")];
  await s.post(emulator(), s.request({ messages: [s.user("Hi"), s.calls("a"), told, repeated] }));
  expect(emulator().requests[0]?.flags).toEqual(["tool output outside a result: canary-a1 at messages[3]"]);
});
