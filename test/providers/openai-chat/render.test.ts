import { expect, test } from "vitest";
import { SEARCH_SPEC } from "../../../src/catalog/search.ts";
import type { RenderInput } from "../../../src/providers/contract.ts";
import { openaiCompatible } from "../../../src/providers/openai-chat/provider.ts";
import type { Entry } from "../../../src/values/entry.ts";
import type { ToolSpec } from "../../../src/values/tool.ts";
import { answersOf, call, deferrals, found, host, numbered, ok, results, user } from "../entries.ts";

const inline = openaiCompatible({ baseURL: "http://127.0.0.1:1/v1" });
const bridge = openaiCompatible({ baseURL: "http://127.0.0.1:1/v1", deferral: "bridge" });

const spec = (name: string): ToolSpec => ({ name, description: `Does ${name}.`, inputSchema: { type: "object" } });
const assistant = answersOf("acme/m");

interface Options extends Partial<RenderInput> {
  readonly points?: Record<string, string>;
}

/** The body of a request whose inline tools are `clock` and the search tool, and without a bridge what joined later. */
function body(provider: typeof inline, entries: readonly Entry[], { points = {}, ...more }: Options = {}) {
  const { deferral } = provider.facts("m");
  const late = Object.keys(points).map(spec);
  const tools = [spec("clock"), SEARCH_SPEC, ...(deferral ? [] : late)].map((one) => provider.define(one, false, "m"));
  const items = provider.items({
    tools,
    entries: numbered(entries),
    deferrals: deferrals(points),
    declared: new Set(["clock", "tool_search", ...Object.keys(points)]),
    deferral,
    chain: "acme/m",
    epoch: 1,
    runningTurn: null,
    ...more,
  });
  const { body } = provider.body({
    model: "m",
    prefix: { settings: provider.settings("m", {}, "k"), tools, system: provider.system("Be kind."), ttl: "5m" },
    deferred: deferral ? late.map((one) => provider.define(one, true, "m")) : [],
    items,
    withheld: [],
    anchor: null,
    call: { maxOutputTokens: 1000, stop: ["END"] },
    previous: null,
    blobs: new Map([["h1", "QUJD"]]),
  });
  return JSON.parse(body);
}

interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
}

/** One line a message: role, text, calls. */
function lines(provider: typeof inline, entries: readonly Entry[], options: Options = {}): string[] {
  return body(provider, entries, options).messages.map(({ role, content, tool_call_id, tool_calls = [] }: Message) =>
    [
      role,
      ...(tool_call_id === undefined ? [] : [tool_call_id]),
      ...(content === null ? [] : [typeof content === "string" ? content : JSON.stringify(content)]),
      ...tool_calls.map(({ id, function: { name, arguments: input } }) => `${id}=${name}(${input})`),
    ].join(" "),
  );
}

const search = call("c1", "tool_search", '{"query":"a"}');
const LOADED = [user("hi"), assistant(search), results(2, found("c1", ["a"]))];
const USED = [...LOADED, assistant(call("c2", "a", '{"x": 1}')), results(4, ok("c2", "a", "done"))];

test("without a bridge, active tools stand inline in the order in which they joined, and calls are calls", () => {
  expect(lines(inline, USED, { points: { a: "c1" } })).toEqual([
    "system Be kind.",
    "user hi",
    'assistant c1=tool_search({"query":"a"})',
    "tool c1 Loaded: a. Call them from now on.",
    'assistant c2=a({"x": 1})',
    "tool c2 done",
  ]);
  const json = body(inline, USED, { points: { a: "c1" } });
  expect(json.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
    "clock",
    "tool_search",
    "a",
  ]);
  expect(json).toMatchObject({ model: "m", max_tokens: 1000, stop: ["END"], stream_options: { include_usage: true } });
});

test("with a bridge, what joins is described in its search's result and called through one constant function", () => {
  const sent = lines(bridge, USED, { points: { a: "c1" } });
  expect(sent.slice(2)).toEqual([
    'assistant c1=tool_search({"query":"a"})',
    'tool c1 Loaded: a. Call them from now on. Each by call_tool, with arguments that fit its schema:\n{"name":"a","description":"Does a.","parameters":{"type":"object"}}',
    'assistant c2=call_tool({"name":"a","arguments":{"x": 1}})',
    "tool c2 done",
  ]);
  const json = body(bridge, USED, { points: { a: "c1" } });
  const names = json.tools.map((tool: { function: { name: string } }) => tool.function.name);
  expect(names).toEqual(["clock", "tool_search", "call_tool"]);
  expect(body(bridge, [user("hi")]).tools).toEqual(json.tools);
});

test("over a bridge, what a tool said stays its own: another load point gets a pair after its batch's results", () => {
  const entries = [
    user("hi"),
    assistant(call("c1", "clock"), call("c2", "clock")),
    results(2, ok("c1", "clock", "noon"), ok("c2", "clock", "one")),
    host("h1", ["b"], { at: "attach", seq: 2 }),
  ];
  const sent = lines(bridge, entries, { points: { a: "c1", b: "h1" } });
  expect(sent.slice(3, 5)).toEqual(["tool c1 noon", "tool c2 one"]);
  const id = /^assistant (hfl_[0-9a-f]{16})=tool_search\(\{"query":"a"\}\)$/.exec(sent[5] ?? "")?.[1];
  expect(sent[6]).toMatch(new RegExp(`^tool ${id} Loaded: a\\. .*\\n\\{"name":"a"`));
  expect(sent[7]).toBe('assistant h1=tool_search({"query":"b"})');
  expect(sent[8]).toMatch(/^tool h1 Loaded: b\. .*\n\{"name":"b"/);
});

test("a host search without a bridge is a search as any other", () => {
  const entries = [...LOADED, host("h1", ["b"], { at: "attach", seq: 2 })];
  expect(lines(inline, entries, { points: { a: "c1", b: "h1" } }).slice(4)).toEqual([
    'assistant h1=tool_search({"query":"b"})',
    "tool h1 Loaded: b. Call them from now on.",
  ]);
});

test("a call is sent back with all that the endpoint said of it, unless it is called otherwise by now", () => {
  const signed = {
    ...call("c2", "a"),
    raw: '{"function":{"name":"a","arguments":"{ }"},"extra_content":{"sign":"x"}}',
  };
  const entries = [...LOADED, assistant(signed), results(4, ok("c2", "a", "done"))];
  const callOf = (provider: typeof inline) =>
    body(provider, entries, { points: { a: "c1" } }).messages[4].tool_calls[0];
  expect(callOf(inline)).toEqual({
    id: "c2",
    type: "function",
    function: { name: "a", arguments: "{ }" },
    extra_content: { sign: "x" },
  });
  expect(callOf(bridge).function).toEqual({ name: "call_tool", arguments: '{"name":"a","arguments":{}}' });
});

test("another provider's history crosses without its thinking, with ids that are short enough", () => {
  const foreign = answersOf("anthropic/claude-sonnet-5");
  const id = `toolu_${"x".repeat(60)}`;
  const entries = [
    user("hi"),
    foreign({ type: "thinking", text: "hm", raw: "{}" }, { type: "text", text: "One." }, call(id, "clock", "{bad")),
    results(2, { ...ok(id, "clock", "no JSON"), status: "error" }),
    foreign({ type: "thinking", text: "hm", raw: "{}" }),
  ];
  const sent = lines(inline, entries);
  const short = /^assistant One\. (call_[0-9a-f]{32})=clock\(\{\}\)$/.exec(sent[2] ?? "")?.[1];
  expect(sent.slice(3)).toEqual([`tool ${short} Error:\nno JSON`]);
});

test("images of users are sent, those of tools are named", () => {
  const image = { type: "image", source: { type: "blob", hash: "h1", media: "image/png" } } as const;
  const asked: Entry = { ...LOADED[0], content: [{ type: "text", text: "look" }, image] } as Entry;
  const entries = [asked, assistant(call("c1", "clock")), results(2, { ...ok("c1", "clock", ""), content: [image] })];
  const { messages } = body(inline, entries);
  expect(messages[1].content[1]).toEqual({ type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } });
  expect(messages[3].content).toContain("image left out");
});
