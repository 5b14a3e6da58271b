import { describe, expect, test } from "vitest";
import { bodyLayout, createParking, layoutDifference, parkAt, type RecordedRequest, say } from "./index.ts";
import * as s from "./support.ts";

let clock = 0;
const emulator = s.useEmulator({ now: () => clock, answer: () => say("ok") });
const MINUTE = 60_000;
const long = s.words(2000);

/** Sends a request and gives what was read, written, the whole input, and what could have been read. */
async function usage(body: s.Body) {
  const response = await s.post(emulator(), body);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  const record = emulator().requests.at(-1);
  if (record?.usage == null) throw new Error("Nothing was recorded.");
  const { input_tokens: input, input_tokens_details: details } = record.usage;
  return {
    read: details.cached_tokens,
    written: details.cache_write_tokens,
    input,
    ideal: record.idealCachedTokens,
  };
}

const marked = (text: string) => ({ type: "input_text", text, prompt_cache_breakpoint: { mode: "explicit" } });
const plain = (text: string) => ({ type: "input_text", text });

describe("in steps of 128 tokens", () => {
  const first = (more: s.Body = {}) => s.request({ input: [s.user(long)], ...more });
  const second = (more: s.Body = {}) =>
    s.request({ input: [s.user(long), s.assistant("ok"), s.user("And?")], ...more });

  test("what is shared with an earlier prompt is read, rounded down, and writing costs nothing", async () => {
    const cold = await usage(first());
    expect(cold).toMatchObject({ read: 0, written: 0, ideal: 0 });
    const warm = await usage(second());
    expect(warm).toMatchObject({ read: 1920, written: 0, ideal: 1920 });
    expect(warm.input).toBeGreaterThan(cold.input);
  });

  test("a prompt that differs in its middle is read up to there", async () => {
    await usage(first());
    const other = `${s.words(1300)}!${s.words(700)}`;
    expect(await usage(first({ input: [s.user(other)] }))).toMatchObject({ read: 1280 });
  });

  test("prompts below 1,024 tokens are not cached", async () => {
    const short = first({ input: [s.user(s.words(900))] });
    await usage(short);
    expect(await usage(short)).toMatchObject({ read: 0, ideal: 0 });
  });

  test("another key is another cache, and the ideal says what one key would have read", async () => {
    await usage(first({ prompt_cache_key: "a" }));
    expect(await usage(second({ prompt_cache_key: "b" }))).toMatchObject({ read: 0, ideal: 1920 });
    expect(await usage(second({ prompt_cache_key: "a" }))).toMatchObject({ read: 1920 });
  });

  test.for([
    ["the model", { model: "gpt-5.4-mini" }],
    ["a tool", { tools: [s.tool("look")] }],
    ["the instructions", { instructions: "Be kind." }],
    ["the effort", { reasoning: { effort: "low" } }],
    ["the verbosity", { text: { verbosity: "low" } }],
    ["parallel calls", { parallel_tool_calls: false }],
  ] as const)("%s is part of what is cached", async ([, more]) => {
    await usage(first());
    expect(await usage(second(more))).toMatchObject({ read: 0 });
  });

  test("what a request may change is not: the tools that are allowed, the length of the answer", async () => {
    const tools = [s.tool("look"), s.tool("see")];
    await usage(first({ tools }));
    const tool_choice = { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "see" }] };
    expect(await usage(second({ tools, tool_choice, max_output_tokens: 99 }))).toMatchObject({ read: 2048 });
  });

  test("a prefix lives for five minutes from its last use, or for a day where that is asked for", async () => {
    clock = 0;
    await usage(first());
    clock += 4 * MINUTE;
    expect((await usage(first())).read).toBe(1920);
    clock += 4 * MINUTE;
    expect((await usage(first())).read).toBe(1920);
    clock += 5 * MINUTE;
    expect((await usage(first({ prompt_cache_retention: "24h" }))).read).toBe(0);
    clock += 600 * MINUTE;
    expect((await usage(first())).read).toBe(1920);
  });

  test("gpt-5.5 has steps of 2,048", async () => {
    const body = (text: string) => s.request({ model: "gpt-5.5", input: [s.user(text)] });
    await usage(body(s.words(5000)));
    expect(await usage(body(s.words(5000)))).toMatchObject({ read: 4096 });
  });

  test("only an answer that has begun can be read", async () => {
    const parking = createParking<RecordedRequest>();
    emulator().script([say("slow"), parkAt("headers", parking)]);
    const slow = s.post(emulator(), first());
    await parking.parked;
    expect((await usage(first())).read).toBe(0);
    parking.release();
    expect((await slow).status).toBe(200);
  });

  test("while something is deferred a hidden text stands in front, and goes when all is loaded", async () => {
    const tools = [s.clientSearch, s.tool("later", { defer_loading: true })];
    const before = await usage(first({ tools }));
    const loaded = [s.user(long), s.searched("a"), s.loads("a", s.tool("later"))];
    const after = await usage(s.request({ tools, input: loaded }));
    expect(after.read).toBe(0);
    expect(after.input).toBeLessThan(before.input);
    const none = await usage(first({ tools: [s.clientSearch] }));
    expect(none.input).toBeLessThan(before.input - 280);
    const more = await usage(s.request({ tools: [s.clientSearch], input: loaded }));
    expect(more.read).toBe(1920);
  });
});

describe("at boundaries", () => {
  const request = (more: s.Body) => s.request({ model: "gpt-5.6", ...more });
  const head = s.developer([plain(long)]);

  test("the end of the last message is written, and read by what goes on from it", async () => {
    const cold = await usage(request({ input: [s.user(long)] }));
    expect(cold).toMatchObject({ read: 0, written: cold.input });
    const warm = await usage(request({ input: [s.user(long), s.assistant("ok"), s.user("And?")] }));
    expect(warm).toMatchObject({ read: cold.input, ideal: cold.input, written: warm.input - cold.input });
  });

  test("the last output of a group is an end, and the items of the model are none", async () => {
    const tools = [s.tool("look")];
    const calls = [s.user(long), s.use("a", "look"), s.use("b", "look"), s.output("a"), s.output("b")];
    const cold = await usage(request({ tools, input: calls }));
    expect(cold.written).toBe(cold.input);
    const warm = await usage(request({ tools, input: [...calls, s.assistant("ok")] }));
    expect(warm).toMatchObject({ read: cold.input, written: 0 });
  });

  test("explicit boundaries alone count where only they are asked for", async () => {
    const prompt_cache_options = { mode: "explicit" };
    const ask = (text: string) => request({ prompt_cache_options, input: [s.user([marked(long), plain(text)])] });
    const cold = await usage(ask("One?"));
    expect(cold.written).toBeLessThan(cold.input);
    const warm = await usage(ask("Another one?"));
    expect(warm).toMatchObject({ read: cold.written, written: 0 });
    await usage(request({ prompt_cache_options, input: [s.user(`${long}!`)] }));
    expect(await usage(request({ prompt_cache_options, input: [s.user(`${long}!`)] }))).toMatchObject({ read: 0 });
  });

  test("a boundary that was written is found although it is not marked any more", async () => {
    const cold = await usage(request({ input: [s.developer([marked(long)]), s.user([marked("One?")])] }));
    const next = [head, s.user([plain("One?")]), s.assistant("ok"), s.user([marked("Two?")])];
    expect(await usage(request({ input: next }))).toMatchObject({ read: cold.input });
  });

  test("a new conversation reads the instructions that another one marked", async () => {
    await usage(request({ input: [s.developer([marked(long)]), s.user("One?")] }));
    const other = await usage(request({ input: [s.developer([marked(long)]), s.user("Another?")] }));
    expect(other.read).toBeGreaterThan(2000);
    expect(other.ideal).toBe(other.read);
  });

  test("a boundary lives for half an hour, or for twelve where that is asked for", async () => {
    clock = 0;
    await usage(request({ input: [s.user(long)] }));
    clock += 30 * MINUTE;
    const kept = { prompt_cache_options: { ttl: "12h" } };
    expect((await usage(request({ ...kept, input: [s.user(long)] }))).read).toBe(0);
    clock += 700 * MINUTE;
    expect((await usage(request({ input: [s.user(long)] }))).read).toBeGreaterThan(2000);
  });
});

describe("a request extends another", () => {
  const differ = (a: s.Body, b: s.Body) =>
    layoutDifference(bodyLayout(JSON.stringify(a)), bodyLayout(JSON.stringify(b)));
  const before = s.request({ instructions: "Be kind.", tools: [s.tool("look")], input: [s.user([plain("Hi")])] });

  test("if it only adds items, wherever the boundaries are", () => {
    const after = { ...before, max_output_tokens: 20, input: [s.user([marked("Hi")]), s.assistant("ok")] };
    expect(differ(before, after)).toBeNull();
  });

  test.for([
    [{ input: [s.user([plain("Ho")])] }, "message block 0"],
    [{ tools: [s.tool("look"), s.tool("see")] }, "inline tool 1"],
    [{ instructions: "Be quick." }, "system block 0"],
    [{ prompt_cache_key: "b" }, "settings"],
  ] as const)("and not with %o", ([more, where]) => {
    expect(differ(before, { ...before, ...more })).toContain(where);
  });
});

test("Tool output that has left its result is flagged", async () => {
  const tools = [s.tool("look")];
  await usage(s.request({ tools, input: [s.use("a", "look"), s.output("a", "canary-a1"), s.user("canary-a1?")] }));
  expect(emulator().requests[0]?.flags).toEqual(["tool output outside a result: canary-a1 at input[2]"]);
});
