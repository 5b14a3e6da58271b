import { expect, test } from "vitest";
import { SEARCH_SPEC } from "../../../src/catalog/search.ts";
import type { Definition, ModelRequest, RenderInput } from "../../../src/providers/contract.ts";
import { openai } from "../../../src/providers/openai/provider.ts";
import type { Block, Entry } from "../../../src/values/entry.ts";
import type { ToolSpec } from "../../../src/values/tool.ts";
import { answersOf, call, deferrals, found, host, made, numbered, ok, results, user } from "../entries.ts";

const SEARCHES = "gpt-5.4";
const ADDS = "gpt-5";
const INLINE = "gpt-4o";

const spec = (name: string): ToolSpec => ({ name, description: `Does ${name}.`, inputSchema: { type: "object" } });

interface Options extends Partial<RenderInput> {
  readonly model?: string;
  readonly points?: Record<string, string>;
  readonly request?: Partial<ModelRequest>;
}

/** The body of a request to a model whose inline tools are `clock` and the search tool. */
function body(entries: readonly Entry[], { model = SEARCHES, points = {}, request = {}, ...more }: Options = {}) {
  const facts = openai.facts(model);
  const late = Object.keys(points);
  const inline = [spec("clock"), SEARCH_SPEC, ...(facts.deferral ? [] : late.map(spec))];
  const tools = more.tools ?? inline.map((one) => openai.define(one, false, model));
  const items = openai.items({
    entries: numbered(entries),
    deferrals: deferrals(points),
    declared: new Set(["clock", "tool_search", ...late]),
    deferral: facts.deferral,
    chain: `openai/${model}`,
    epoch: 1,
    runningTurn: null,
    ...more,
    tools,
  });
  const written = openai.body({
    model,
    prefix: { settings: openai.settings(model, {}, "k"), tools, system: openai.system("Be kind."), ttl: "5m" },
    deferred: facts.deferral ? late.map((name) => openai.define(spec(name), true, model)) : [],
    items,
    withheld: [],
    anchor: null,
    call: { maxOutputTokens: 1000 },
    previous: null,
    blobs: new Map(),
    ...request,
  });
  return { ...written, items, json: JSON.parse(written.body) };
}

type Wire = Record<string, unknown> & { readonly tools?: { name: string }[]; readonly content?: unknown };

/** One line an item: its type or role, its call, and what matters of it. */
function lines(entries: readonly Entry[], options: Options = {}): string[] {
  const { input } = body(entries, options).json;
  return input.slice(1).map((item: Wire) => {
    const call = item.call_id ?? "";
    switch (item.type) {
      case undefined:
        return `${item.role} ${typeof item.content === "string" ? item.content : JSON.stringify(item.content)}`;
      case "function_call":
        return `call ${call} ${item.namespace === undefined ? "" : `${item.namespace}.`}${item.name} ${item.arguments}`;
      case "function_call_output":
        return `output ${call} ${typeof item.output === "string" ? item.output : JSON.stringify(item.output)}`;
      case "tool_search_call":
        return `search ${call} ${JSON.stringify(item.arguments)}`;
      case "tool_search_output":
        return `found ${call} ${item.tools?.map(({ name }) => name).join("|")}`;
      case "additional_tools":
        return `added ${item.role} ${item.tools?.map(({ name }) => name).join("|")}`;
      default:
        return `${item.type} ${item.id ?? ""}`;
    }
  });
}

const HI = 'user [{"type":"input_text","text":"hi"}]';
const assistant = answersOf(`openai/${SEARCHES}`);
const query = (text: string) => JSON.stringify({ query: text });

test("a search that said only what it loaded is answered by definitions of all that has its load point there", () => {
  const entries = [
    user("hi"),
    assistant(call("c1", "tool_search", query("x"))),
    results(2, found("c1", ["b", "a"])),
    assistant(call("c2", "a")),
    results(4, ok("c2", "a", "done")),
  ];
  expect(lines(entries, { points: { a: "c1", b: "c1" } })).toEqual([
    HI,
    'search c1 {"query":"x"}',
    "found c1 a|b",
    "call c2 a.a {}",
    "output c2 done",
  ]);
  const { input } = body(entries, { points: { a: "c1", b: "c1" } }).json;
  expect(input[3]).toEqual({
    type: "tool_search_output",
    execution: "client",
    call_id: "c1",
    status: "completed",
    tools: ["a", "b"].map((name) => ({
      type: "function",
      name,
      description: `Does ${name}.`,
      parameters: { type: "object" },
      strict: false,
      defer_loading: true,
    })),
  });
});

test("any other search is answered by its text", () => {
  const entries = [
    user("hi"),
    assistant(call("c1", "tool_search", query("x"))),
    results(2, ok("c1", "tool_search", "Nothing.")),
  ];
  expect(lines(entries)).toEqual([HI, 'search c1 {"query":"x"}', "output c1 Nothing."]);
});

test("every other load point gets a pair after all outputs of its batch, with an id that follows from it", () => {
  const entries = [
    user("hi"),
    assistant(call("c1", "clock"), call("c2", "clock")),
    results(2, ok("c1", "clock", "noon"), ok("c2", "clock", "one")),
  ];
  const [, , , , , pair, output] = lines(entries, { points: { a: "c1" } });
  expect(lines(entries, { points: { a: "c1" } }).slice(1, 5)).toEqual([
    "call c1 clock {}",
    "call c2 clock {}",
    "output c1 noon",
    "output c2 one",
  ]);
  const id = /^search (hfl_[0-9a-f]{16}) \{"query":"a"\}$/.exec(pair ?? "")?.[1];
  expect(output).toBe(`found ${id} a`);
  expect(lines(entries, { points: { a: "c1" } })).toEqual(lines(entries, { points: { a: "c1" } }));
});

test("a host search is a pair at its place, after the batch's outputs where it is attached", () => {
  const entries = [
    user("hi"),
    assistant(call("c1", "clock")),
    results(2, ok("c1", "clock", "noon")),
    host("h1", ["a"], { at: "attach", seq: 2 }),
    user("and?"),
  ];
  expect(lines(entries, { points: { a: "h1" } })).toEqual([
    HI,
    "call c1 clock {}",
    "output c1 noon",
    'search h1 {"query":"a"}',
    "found h1 a",
    'user [{"type":"input_text","text":"and?"}]',
  ]);
});

test("a model that adds tools gets them as additional_tools, and searches by an ordinary function", () => {
  const own = answersOf(`openai/${ADDS}`);
  const entries = [
    user("hi"),
    own(call("c1", "tool_search", query("x")), call("c2", "clock")),
    results(2, found("c1", ["a"]), ok("c2", "clock", "noon")),
    host("h1", ["b"], { at: "attach", seq: 2 }),
  ];
  expect(lines(entries, { model: ADDS, points: { a: "c1", b: "h1" } })).toEqual([
    HI,
    'call c1 tool_search {"query":"x"}',
    "call c2 clock {}",
    "output c1 Loaded: a. Call them from now on.",
    "output c2 noon",
    "added developer a",
    "added developer b",
  ]);
  const { json } = body(entries, { model: ADDS, points: { a: "c1", b: "h1" } });
  expect(json.input.at(-1).tools[0]).not.toHaveProperty("defer_loading");
  expect(json.tools.map((tool: { type: string }) => tool.type)).toEqual(["function", "function"]);
});

test("an epoch keeps the form that it began with, whatever the table says of the model by now", () => {
  const entries = [user("hi"), assistant(call("c1", "clock")), results(2, ok("c1", "clock", "noon"))];
  const tools: Definition[] = [spec("clock"), SEARCH_SPEC].map((one) => openai.define(one, false, ADDS));
  expect(lines(entries, { tools, points: { a: "c1" } }).at(-1)).toBe("added developer a");
});

test("without a search tool, tools are added", () => {
  const entries = [user("hi"), assistant(call("c1", "clock")), results(2, ok("c1", "clock", "noon"))];
  const tools = [openai.define(spec("clock"), false, SEARCHES)];
  expect(lines(entries, { tools, points: { a: "c1" } }).at(-1)).toBe("added developer a");
});

test("a model that defers nothing gets searches as it gets any call", () => {
  const own = answersOf(`openai/${INLINE}`);
  const entries = [
    user("hi"),
    own(call("c1", "tool_search", query("x"))),
    results(2, found("c1", ["a"])),
    host("h1", ["b"], { at: "attach", seq: 2 }),
  ];
  expect(lines(entries, { model: INLINE, points: { a: "c1", b: "h1" } })).toEqual([
    HI,
    'call c1 tool_search {"query":"x"}',
    "output c1 Loaded: a. Call them from now on.",
    'call h1 tool_search {"query":"b"}',
    "output h1 Loaded: b. Call them from now on.",
  ]);
});

const raw = (item: object) => JSON.stringify(item);
const message: Block = {
  type: "text",
  text: "Let me see.",
  raw: raw({ type: "message", id: "msg_1", role: "assistant", phase: "commentary", content: [] }),
};
const reasoning: Block = {
  type: "thinking",
  text: "",
  raw: raw({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" }),
};
const namespaced: Block = {
  ...call("c1", "a"),
  raw: raw({ type: "function_call", id: "fc_1", call_id: "c1", name: "a", namespace: "a", arguments: "{}" }),
};

test("what the model sent is replayed untouched in its epoch: reasoning, phase and namespace", () => {
  const entries = [user("hi"), assistant(reasoning, message, namespaced), results(2, ok("c1", "a", "done"))];
  const { items } = body(entries);
  expect(items.slice(1, 4).map(({ bytes }) => bytes)).toEqual([reasoning.raw, message.raw, namespaced.raw]);
});

test("a name that the model made up, or called before it was loaded, is sent in a namespace: the API refuses it else", () => {
  const bare = (id: string, name: string): Block => ({
    ...call(id, name),
    raw: raw({ type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: "{}" }),
  });
  const entries = [
    user("hi"),
    assistant(bare("c1", "made_up"), bare("c2", "a"), call("c3", "tool_search", query("a")), bare("c4", "clock")),
    results(2, ok("c1", "made_up", "?"), ok("c2", "a", "?"), found("c3", ["a"]), ok("c4", "clock", "noon")),
    assistant(bare("c5", "a")),
    results(4, ok("c5", "a", "done")),
  ];
  const calls = lines(entries, { points: { a: "c4" } }).filter((line) => line.startsWith("call"));
  expect(calls).toEqual(["call c1 made_up.made_up {}", "call c2 a.a {}", "call c4 clock {}", "call c5 a {}"]);
});

test("another epoch gets no reasoning, and calls as its own inline tools want them", () => {
  const entries = [user("hi"), assistant(reasoning, message, namespaced), results(2, ok("c1", "a", "done"))];
  expect(lines(entries, { epoch: 2 }).slice(1, 3)).toEqual(["message msg_1", "call c1 a.a {}"]);
  const tools = [spec("clock"), SEARCH_SPEC, spec("a")].map((one) => openai.define(one, false, SEARCHES));
  expect(lines(entries, { epoch: 2, tools })[2]).toBe("call c1 a {}");
});

test("the turn that runs keeps its reasoning over a break, unless what it led to has to change", () => {
  const entries = [user("hi"), assistant(reasoning, namespaced), results(2, ok("c1", "a", "done"))];
  expect(lines(entries, { epoch: 2, runningTurn: "t1" })[1]).toBe("reasoning rs_1");
  const tools = [spec("a"), SEARCH_SPEC].map((one) => openai.define(one, false, SEARCHES));
  expect(lines(entries, { epoch: 2, runningTurn: "t1", tools })[1]).toBe("call c1 a {}");
});

test("reasoning that leads to nothing any more is left out", () => {
  const entries = [user("hi"), assistant(message, reasoning), user("go on")];
  expect(lines(entries).some((line) => line.startsWith("reasoning"))).toBe(false);
  const cut = [user("hi"), assistant(reasoning, { type: "text", text: "half" })];
  expect(lines(cut)).toEqual([HI, "assistant half"]);
});

test("another provider's history crosses without what only that one can read", () => {
  const foreign = answersOf("anthropic/claude-sonnet-5");
  const id = `toolu_${"x".repeat(70)}`;
  const entries = [
    user("hi"),
    foreign(
      { type: "thinking", text: "hm", raw: '{"type":"thinking"}' },
      { type: "opaque", raw: '{"type":"server_tool_use"}' },
      { type: "text", text: "Let me see." },
      call("toolu_1", "tool_search", query("a")),
    ),
    results(2, found("toolu_1", ["a"])),
    foreign(call(id, "a", '{"x": 1.0}'), call("toolu_3", "clock"), call("toolu_4", "gone")),
    results(4, ok(id, "a", "done"), ok("toolu_3", "clock", "noon"), ok("toolu_4", "gone", "?")),
  ];
  const sent = lines(entries, { points: { a: "toolu_1" } });
  expect(sent.slice(0, 4)).toEqual([HI, "assistant Let me see.", 'search toolu_1 {"query":"a"}', "found toolu_1 a"]);
  const short = /^call (call_[0-9a-f]{32}) a\.a \{"x": 1\.0\}$/.exec(sent[4] ?? "")?.[1];
  expect(sent.slice(5)).toEqual([
    "call toolu_3 clock {}",
    "call toolu_4 gone.gone {}",
    `output ${short} done`,
    "output toolu_3 noon",
    "output toolu_4 ?",
  ]);
});

test("a failed result says so in its text, and an image stays in the output of its tool", () => {
  const image = { type: "image", source: { type: "url", url: "https://example.org/dot.png" } } as const;
  const entries = [
    user("hi"),
    assistant(call("c1", "clock"), call("c2", "clock"), call("c3", "clock")),
    results(
      2,
      { ...ok("c1", "clock", "It broke."), status: "error" },
      { ...ok("c2", "clock", "A dot:"), content: [{ type: "text", text: "A dot:" }, image] },
      { ...ok("c3", "clock", ""), content: [] },
    ),
  ];
  expect(lines(entries).slice(4)).toEqual([
    "output c1 Error:\nIt broke.",
    'output c2 [{"type":"input_text","text":"A dot:"},{"type":"input_image","detail":"auto","image_url":"https://example.org/dot.png"}]',
    "output c3 (no output)",
  ]);
});

test("instructions and later system text come from the developer", () => {
  const update: Entry = { ...made, kind: "system_update", text: "Be brief." };
  const { input } = body([user("hi"), update, user("and?")]).json;
  expect(input[0]).toEqual({ role: "developer", content: [{ type: "input_text", text: "Be kind." }] });
  expect(input[2]).toEqual({ role: "developer", content: [{ type: "input_text", text: "Be brief." }] });
});

test("nothing is stored, reasoning is asked for where there is some, and the session has one cache key", () => {
  expect(body([user("hi")]).json).toMatchObject({
    model: SEARCHES,
    store: false,
    prompt_cache_key: "k",
    include: ["reasoning.encrypted_content"],
    max_output_tokens: 1000,
    stream: true,
  });
  expect(body([user("hi")], { model: INLINE }).json).not.toHaveProperty("include");
  expect(
    JSON.parse(`{${openai.settings(SEARCHES, { effort: "low", thinking: true, parallelCalls: false }, "k")}}`),
  ).toMatchObject({
    reasoning: { effort: "low", summary: "auto" },
    parallel_tool_calls: false,
  });
});

test("a mode names the inline tools that it allows, and leaves the tools as they are", () => {
  const { json } = body([user("hi")], { request: { withheld: ["clock"] } });
  expect(json.tools).toHaveLength(2);
  expect(json.tool_choice).toEqual({ type: "allowed_tools", mode: "auto", tools: [{ type: "tool_search" }] });
  const none = body([user("hi")], {
    tools: [openai.define(spec("clock"), false, SEARCHES)],
    request: { withheld: ["clock"] },
  });
  expect(none.json.tool_choice).toBe("none");
});

test("a mode that allows a tool which joined later names none, so that it can be called", () => {
  const entries = [user("hi"), assistant(call("c1", "tool_search", query("a"))), results(2, found("c1", ["a"]))];
  const ask = (withheld: string[]) => body(entries, { points: { a: "c1" }, request: { withheld } }).json;
  expect(ask(["clock"])).not.toHaveProperty("tool_choice");
  expect(ask(["clock", "a"])).toHaveProperty("tool_choice");
});

test("explicit breakpoints stand on the system text, on the anchor's message and on the last one, only where a model takes them", () => {
  const own = answersOf("openai/gpt-5.6");
  const entries = [
    user("one"),
    own(call("c1", "clock")),
    results(2, ok("c1", "clock", "noon")),
    user("two"),
    user("three"),
  ];
  const { json, end } = body(entries, { model: "gpt-5.6", request: { anchor: 0 } });
  const marked = json.input.flatMap((item: { content?: unknown }) =>
    JSON.stringify(item).includes('"prompt_cache_breakpoint":{"mode":"explicit"}') ? [item.content] : [],
  );
  expect(marked.map((content: { text: string }[]) => content[0]?.text)).toEqual(["Be kind.", "one", "three"]);
  expect(end).toBe(4);
  const plain = body(entries, { request: { anchor: 0 } });
  expect(plain.body).not.toContain("breakpoint");
  expect(plain.end).toBeNull();
});
