import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/providers/contract.ts";
import { readStream } from "../../../src/providers/openai-chat/stream.ts";
import { failureOf } from "../../../src/values/errors.ts";

type Choice = { delta?: object; finish_reason?: string | null };

/** What the reader makes of chunks: those of endpoints that keep to the letter, and those of others. */
async function read(chunks: readonly { choices?: readonly Choice[]; usage?: object; id?: string }[], body = "{}") {
  const events: ModelEvent[] = [];
  const stream = (async function* () {
    for (const chunk of chunks) yield { id: "chat_1", choices: [], ...chunk } as unknown as ChatCompletionChunk;
  })();
  try {
    for await (const event of readStream(stream, body, (call) => call)) events.push(event);
    return { events, error: null };
  } catch (error) {
    return { events, error };
  }
}

const delta = (of: object) => ({ choices: [{ delta: of }] });
const end = (finish_reason: string) => ({ choices: [{ delta: {}, finish_reason }] });
const piece = (index: number, id: string | undefined, name: string | undefined, args: string, more = {}) =>
  delta({ tool_calls: [{ index, ...(id === undefined ? {} : { id }), function: { name, arguments: args }, ...more }] });
const blocks = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === "block" ? [event.block] : []));

test("text, thinking, calls in pieces, usage behind the last choice", async () => {
  const { events } = await read([
    delta({ role: "assistant", content: "" }),
    delta({ reasoning_content: "hm" }),
    delta({ content: "Let " }),
    delta({ content: "me." }),
    piece(0, "call_1", "clock", '{"a"'),
    piece(0, undefined, undefined, ":1}"),
    piece(1, "call_2", "weather", "", { extra_content: { sign: "x" } }),
    end("tool_calls"),
    { usage: { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 60 } } },
  ]);
  expect(events[0]).toEqual({ type: "begun", id: "chat_1" });
  expect(events.filter(({ type }) => type === "thinking")).toEqual([{ type: "thinking", text: "hm" }]);
  expect(blocks(events)).toEqual([
    { type: "text", text: "Let me." },
    {
      ...{ type: "call", id: "call_1", name: "clock", input: '{"a":1}' },
      raw: '{"function":{"name":"clock","arguments":"{\\"a\\":1}"}}',
    },
    {
      ...{ type: "call", id: "call_2", name: "weather", input: "{}" },
      raw: '{"function":{"name":"weather","arguments":""},"extra_content":{"sign":"x"}}',
    },
  ]);
  expect(events.slice(-2)).toEqual([
    { type: "usage", usage: { input: 40, cacheRead: 60, cacheWrite: 0, output: 7 } },
    { type: "stop", stop: "calls" },
  ]);
});

test("the reason to stop: the end, a limit, a filter, a refusal, and calls whatever it says", async () => {
  const stop = async (...chunks: Parameters<typeof read>[0]) => (await read(chunks)).events.at(-1);
  expect(await stop(delta({ content: "a" }), end("stop"))).toEqual({ type: "stop", stop: "end" });
  expect(await stop(delta({ content: "a" }), end("length"))).toEqual({ type: "stop", stop: "length" });
  expect(await stop(end("content_filter"))).toEqual({ type: "stop", stop: "refusal" });
  expect(await stop(delta({ refusal: "No." }), end("stop"))).toEqual({ type: "stop", stop: "refusal" });
  expect(await stop(piece(0, "c", "clock", "{}"), end("stop"))).toEqual({ type: "stop", stop: "calls" });
});

test("a stream without a reason to stop broke off", async () => {
  const { events, error } = await read([delta({ content: "half" })]);
  expect(events.at(-1)).toEqual({ type: "text", text: "half" });
  expect(failureOf(error)).toMatchObject({ reason: "provider", type: "connection" });
});

test("calls that share an index are told apart by their ids", async () => {
  const { events } = await read([piece(0, "a", "clock", "{}"), piece(0, "b", "clock", "{}"), end("tool_calls")]);
  expect(blocks(events)).toMatchObject([{ id: "a" }, { id: "b" }]);
});

test("an id that is missing, given twice or known from the history is replaced, the same each time", async () => {
  const chunks = [
    piece(0, "", "clock", "{}"),
    piece(1, "call_0", "clock", "{}"),
    piece(2, "x", "clock", "{}"),
    piece(3, "x", "clock", "{}"),
    end("tool_calls"),
  ];
  const ids = async () =>
    blocks((await read(chunks, '{"messages":[{"tool_calls":[{"id":"call_0"}]}]}')).events).map((block) =>
      block.type === "call" ? block.id : "",
    );
  const given = await ids();
  expect(new Set(given).size).toBe(4);
  expect(given[2]).toBe("x");
  expect([given[0], given[1], given[3]]).toEqual(Array(3).fill(expect.stringMatching(/^call_[0-9a-f]{24}$/)));
  expect(await ids()).toEqual(given);
});

test("what an endpoint read from its cache counts, whatever the field's name", async () => {
  const { events } = await read([
    end("stop"),
    { usage: { prompt_tokens: 100, completion_tokens: 1, prompt_cache_hit_tokens: 90 } },
  ]);
  expect(events.at(-2)).toEqual({ type: "usage", usage: { input: 10, cacheRead: 90, cacheWrite: 0, output: 1 } });
});
