import { expect, test } from "vitest";
import { loadedLine } from "../../../src/catalog/search.ts";
import { renderItems } from "../../../src/providers/anthropic/render.ts";
import type { Item, RenderInput } from "../../../src/providers/contract.ts";
import type { Entry, ToolResult } from "../../../src/values/entry.ts";
import { answersOf, call, deferrals, found, host, numbered, ok, results, user } from "../entries.ts";

const assistant = answersOf("anthropic/m");

function render(entries: Entry[], points: Record<string, string> = {}, more: Partial<RenderInput> = {}): Item[] {
  return renderItems({
    tools: [],
    entries: numbered(entries),
    deferrals: deferrals(points),
    declared: new Set(["clock", "tool_search", ...Object.keys(points)]),
    deferral: true,
    chain: "anthropic/m",
    epoch: 1,
    runningTurn: null,
    ...more,
  });
}

/** One line a block: role, type, and what matters of it. */
function lines(items: readonly Item[]): string[] {
  return items.map(({ role, bytes }) => {
    const block = JSON.parse(bytes);
    const said = (content: { text?: string; tool_name?: string; type: string }[]) =>
      content.map((part) => part.text ?? (part.tool_name ? `→${part.tool_name}` : part.type)).join("|");
    switch (block.type) {
      case "text":
        return `${role} text ${block.text}`;
      case "tool_use":
        return `${role} use ${block.id} ${block.name}`;
      case "tool_result":
        return `${role} result ${block.tool_use_id}${block.is_error ? " error" : ""} ${said(block.content)}`;
      default:
        return `${role} ${block.type}`;
    }
  });
}

test("a search that said only what it loaded is answered by bare references, in declared order", () => {
  const entries = [user("hi"), assistant(call("c1", "tool_search")), results(2, found("c1", ["b", "a"]))];
  expect(lines(render(entries, { a: "c1", b: "c1" }))).toEqual([
    "user text hi",
    "assistant use c1 tool_search",
    "user result c1 →a|→b",
  ]);
});

test("a search that said more keeps its text, and a companion carries the references", () => {
  const text = `${loadedLine(["a"])}\nAlways available, no need to load: clock. Call them now.`;
  const entries = [user("hi"), assistant(call("c1", "tool_search")), results(2, found("c1", ["a"], text))];
  expect(lines(render(entries, { a: "c1" }))).toEqual([
    "user text hi",
    "assistant use c1 tool_search",
    `assistant use ${companionOf("c1")} tool_search`,
    `user result c1 ${text}`,
    `user result ${companionOf("c1")} →a`,
  ]);
});

test("what a tool said stays in its own result when its call is a load point", () => {
  const entries = [
    user("hi"),
    assistant(call("c1", "tool_search"), call("c2", "fetch_page")),
    results(2, found("c1", ["a"]), ok("c2", "fetch_page", "a page")),
  ];
  expect(lines(render(entries, { a: "c2" }))).toEqual([
    "user text hi",
    "assistant use c1 tool_search",
    "assistant use c2 fetch_page",
    `assistant use ${companionOf("c2")} tool_search`,
    `user result c1 ${loadedLine(["a"])}`,
    "user result c2 a page",
    `user result ${companionOf("c2")} →a`,
  ]);
});

test("of two searches in one batch the load point holds the references of all that load there", () => {
  const entries = [
    user("hi"),
    assistant(call("c1", "tool_search"), call("c2", "tool_search")),
    results(2, found("c1", ["a"]), found("c2", ["b"])),
  ];
  expect(lines(render(entries, { a: "c2", b: "c2" }))).toEqual([
    "user text hi",
    "assistant use c1 tool_search",
    "assistant use c2 tool_search",
    `user result c1 ${loadedLine(["a"])}`,
    "user result c2 →a|→b",
  ]);
});

test("a host search attached to an answer is its last call and opens the next user message", () => {
  const entries = [
    user("hi"),
    assistant({ type: "text", text: "hello" }),
    host("hfs_1", ["a"], { at: "attach", seq: 2 }),
    user("more"),
  ];
  expect(lines(render(entries, { a: "hfs_1" }))).toEqual([
    "user text hi",
    "assistant text hello",
    "assistant use hfs_1 tool_search",
    "user result hfs_1 →a",
    "user text more",
  ]);
});

test("a host search attached behind a batch follows the batch's results", () => {
  const failed: ToolResult = { ...ok("c1", "fetch_page", "boom"), status: "error" };
  const entries = [
    user("hi"),
    assistant(call("c1", "fetch_page")),
    results(2, failed),
    host("hfs_1", ["a"], { at: "attach", seq: 2 }),
  ];
  expect(lines(render(entries, { a: "hfs_1" }))).toEqual([
    "user text hi",
    "assistant use c1 fetch_page",
    "assistant use hfs_1 tool_search",
    "user result c1 error boom",
    "user result hfs_1 →a",
  ]);
});

test("a host search before a user entry or at the end is a pair of its own", () => {
  const pair = ["assistant use hfs_1 tool_search", "user result hfs_1 →a"];
  const before = [user("lost"), host("hfs_1", ["a"], { at: "before", seq: 3 }), user("again")];
  expect(lines(render(before, { a: "hfs_1" }))).toEqual(["user text lost", ...pair, "user text again"]);
  const after = [user("lost"), host("hfs_1", ["a"], { at: "after", seq: 1 })];
  expect(lines(render(after, { a: "hfs_1" }))).toEqual(["user text lost", ...pair]);
});

test("a reference names nothing that the request does not declare; a host search without any says its line", () => {
  const entries = [user("hi"), host("hfs_1", ["a"], { at: "after", seq: 1 })];
  const items = render(entries, { a: "hfs_1" }, { declared: new Set(["clock"]) });
  expect(lines(items).at(-1)).toBe(`user result hfs_1 ${loadedLine(["a"])}`);
});

test("a model without deferral gets every result as the tool said it", () => {
  const entries = [
    user("hi"),
    assistant(call("c1", "tool_search")),
    results(2, found("c1", ["a"])),
    host("hfs_1", ["b"], { at: "after", seq: 3 }),
  ];
  expect(lines(render(entries, { a: "c1", b: "hfs_1" }, { deferral: false }))).toEqual([
    "user text hi",
    "assistant use c1 tool_search",
    `user result c1 ${loadedLine(["a"])}`,
    "assistant use hfs_1 tool_search",
    `user result hfs_1 ${loadedLine(["b"])}`,
  ]);
});

test("thinking is sent only within its chain and epoch, or in the running turn of the same model", () => {
  const thinking = {
    type: "thinking",
    text: "hm",
    raw: '{"type":"thinking","thinking":"hm","signature":"s"}',
  } as const;
  const entries = [user("hi"), assistant(thinking, { type: "text", text: "ok" })];
  const sent = (more: Partial<RenderInput>) => lines(render(entries, {}, more)).includes("assistant thinking");
  expect(sent({})).toBe(true);
  expect(sent({ epoch: 2 })).toBe(false);
  expect(sent({ chain: "anthropic/other" })).toBe(false);
  expect(sent({ epoch: 2, runningTurn: "t1" })).toBe(true);
  expect(sent({ epoch: 2, runningTurn: "t2" })).toBe(false);
  expect(sent({ chain: "anthropic/other", runningTurn: "t1" })).toBe(false);
});

test("a call's input goes back as the bytes that came, and what is no object as an empty one", () => {
  const inputs = [
    '{"10":1,"2":12345678901234567890,"__proto__":{"x":1e400}}',
    '{"a": "\\ud800"}',
    '{"a": tru}',
    "[1]",
    "",
  ];
  const blocks = inputs.map((input, index) => call(`c${index}`, "clock", input));
  const items = render([user("hi"), assistant(...blocks)]).slice(1);
  expect(items.map(({ bytes }) => bytes.slice(bytes.indexOf('"input":') + 8, -1))).toEqual([
    inputs[0],
    inputs[1],
    "{}",
    "{}",
    "{}",
  ]);
});

test("a failed result holds text only, a result without output says so, blank text is never sent", () => {
  const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } } as const;
  const entries = [
    user("   "),
    assistant({ type: "text", text: " \n" }, call("c1", "clock"), call("c2", "clock"), call("c3", "clock")),
    results(
      2,
      { call: "c1", name: "clock", status: "error", content: [image] },
      { call: "c2", name: "clock", status: "ok", content: [] },
      { call: "c3", name: "clock", status: "ok", content: [image] },
    ),
  ];
  expect(lines(render(entries))).toEqual([
    "user text (empty message)",
    "assistant use c1 clock",
    "assistant use c2 clock",
    "assistant use c3 clock",
    "user result c1 error [image left out of a failed result]",
    "user result c2 (no output)",
    "user result c3 image",
  ]);
});

function companionOf(id: string): string {
  const items = render([user("hi"), assistant(call(id, "clock")), results(2, ok(id, "clock", "x"))], { a: id });
  return JSON.parse(items[2]?.bytes ?? "{}").id;
}

test("a companion's id follows from the load point's alone", () => {
  expect(companionOf("c1")).toMatch(/^hfl_[0-9a-f]{16}$/);
  expect(companionOf("c1")).toBe(companionOf("c1"));
  expect(companionOf("c1")).not.toBe(companionOf("c2"));
});

test("an id that another provider gave is sent as one that the API takes, in the call and in its result", () => {
  const foreign = answersOf("acme/m");
  const entries = [
    user("hi"),
    foreign(call("functions.clock:0", "clock")),
    results(2, ok("functions.clock:0", "clock", "noon")),
    foreign(call("functions.search:1", "tool_search")),
    results(4, found("functions.search:1", ["a"])),
  ];
  const sent = lines(render(entries, { a: "functions.search:1" }));
  const ids = sent.slice(1).map((line) => /(?:use|result) (call_[0-9a-f]{32}) /.exec(line)?.[1]);
  expect(ids[0]).toBeDefined();
  expect(ids).toEqual([ids[0], ids[0], ids[2], ids[2]]);
  expect(ids[2]).not.toBe(ids[0]);
});
