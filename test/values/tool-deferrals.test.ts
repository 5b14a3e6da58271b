import fc from "fast-check";
import { expect, test } from "vitest";
import { type Markable, ToolDeferrals } from "../../src/values/tool-deferrals.ts";

const tools = (...names: string[]): Markable[] => names.map((name) => ({ name }));
const searchOnly = (name: string): Markable => ({ name, searchOnly: true });
const fresh = () => ToolDeferrals.parse(null, "s");
const reload = (deferrals: ToolDeferrals) => ToolDeferrals.parse(JSON.stringify(deferrals), "s");
const points = (marked: readonly { name: string; loadPoint?: string }[]) =>
  marked.map((tool) => [tool.name, tool.loadPoint ?? null]);

test("the first call records what it has and marks nothing; a later tool is marked at its first load point for good", () => {
  const deferrals = fresh();
  expect(deferrals.markAt(null, tools("read", "write"))).toEqual({ marked: tools("read", "write"), changed: true });

  const second = deferrals.markAt("call-1", tools("read", "write", "search"));
  expect(points(second.marked)).toEqual([
    ["read", null],
    ["write", null],
    ["search", "call-1"],
  ]);
  expect(second.changed).toBe(true);

  const third = deferrals.markAt("call-2", tools("search"));
  expect(points(third.marked)).toEqual([["search", "call-1"]]);
  expect(third.changed).toBe(false);
});

test("each session has deferrals of its own", () => {
  const first = fresh();
  const second = fresh();
  expect(first.markAt(null, tools("read")).changed).toBe(true);
  expect(second.markAt(null, tools("search")).changed).toBe(true);

  const inFirst = first.markAt("call-1", tools("read", "search"));
  expect(points(inFirst.marked)).toEqual([
    ["read", null],
    ["search", "call-1"],
  ]);
  const inSecond = second.markAt("call-2", tools("read", "search"));
  expect(points(inSecond.marked)).toEqual([
    ["read", "call-2"],
    ["search", null],
  ]);
  expect([inFirst.changed, inSecond.changed]).toEqual([true, true]);
});

test("a first call without tools is a baseline: what comes later is late", () => {
  const deferrals = fresh();
  expect(deferrals.markAt(null, [])).toEqual({ marked: [], changed: true });
  expect(deferrals.initial).toEqual([]);

  const inline = deferrals.markAt(null, tools("read"));
  expect(points(inline.marked)).toEqual([["read", null]]);
  expect(inline.changed).toBe(false);

  const late = deferrals.markAt("call-1", tools("read"));
  expect(points(late.marked)).toEqual([["read", "call-1"]]);
  expect(late.changed).toBe(true);
});

test("a tool that only search can find is neither recorded nor marked until it is active", () => {
  const deferrals = fresh();
  expect(deferrals.markAt(null, [...tools("tool_search"), searchOnly("read")]).changed).toBe(true);
  expect(deferrals.initial).toEqual(["tool_search"]);

  const found = deferrals.markAt("search-call", [searchOnly("read")]);
  expect(points(found.marked)).toEqual([["read", null]]);
  expect(found.changed).toBe(false);
  expect(deferrals.loadPoints.size).toBe(0);

  const active = deferrals.markAt("add-call", tools("read"));
  expect(points(active.marked)).toEqual([["read", "add-call"]]);
  expect(active.changed).toBe(true);
});

test.each([
  ["no tools", []],
  ["one tool", tools("read")],
  ["several tools", tools("read", "write", "search")],
])("the input is never touched and the output is a list of its own: %s", (_, input) => {
  const deferrals = fresh();
  deferrals.markAt(null, []);
  const before = structuredClone(input);
  const frozen = Object.freeze(input.map((tool) => Object.freeze({ ...tool })));
  const { marked, changed } = deferrals.markAt("call-1", frozen);
  expect(marked).toHaveLength(input.length);
  expect(marked).not.toBe(frozen);
  for (const [i, tool] of marked.entries()) expect(tool).not.toBe(frozen[i]);
  expect(frozen).toEqual(before);
  expect(changed).toBe(input.length > 0);
});

test("the first call gives a list of its own too, with fresh tools", () => {
  const input = tools("read");
  const { marked, changed } = fresh().markAt("call-1", input);
  expect(marked).not.toBe(input);
  expect(marked[0]).not.toBe(input[0]);
  expect(points(marked)).toEqual([["read", null]]);
  expect(changed).toBe(true);
});

test("a reset forgets baseline and load points, of this session alone; a second reset harms nothing", () => {
  const one = fresh();
  const two = fresh();
  for (const deferrals of [one, two]) {
    expect(deferrals.markAt(null, tools("read")).changed).toBe(true);
    expect(deferrals.markAt("call-1", tools("read", "search")).changed).toBe(true);
  }
  one.reset();
  one.reset();
  expect(one.initial).toBeNull();
  const again = one.markAt("new-call", tools("read", "search"));
  expect(points(again.marked)).toEqual([
    ["read", null],
    ["search", null],
  ]);
  expect(again.changed).toBe(true);
  expect(one.initial).toEqual(["read", "search"]);

  const other = two.markAt("new-call", tools("read", "search"));
  expect(points(other.marked)[1]).toEqual(["search", "call-1"]);
  expect(other.changed).toBe(false);
});

test("a tool seen before there was a tool call stays inline and flips to late once there is one", () => {
  const deferrals = fresh();
  deferrals.markAt(null, tools("read"));
  const before = deferrals.markAt(null, tools("read", "late"));
  expect(points(before.marked)[1]).toEqual(["late", null]);
  expect(before.changed).toBe(false);
  expect(deferrals.late(tools("read", "late"))).toEqual(["late"]);
  const after = deferrals.markAt("call-1", tools("read", "late"));
  expect(points(after.marked)[1]).toEqual(["late", "call-1"]);
  expect(after.changed).toBe(true);
  expect(deferrals.late(tools("read", "late"))).toEqual([]);
});

test("an empty id is no id", () => {
  const deferrals = fresh();
  deferrals.markAt(null, []);
  const { marked, changed } = deferrals.markAt("", tools("read"));
  expect(points(marked)).toEqual([["read", null]]);
  expect(changed).toBe(false);
});

test("a tool that goes away and comes back is what it was: inline, or late at its first load point", () => {
  const deferrals = fresh();
  deferrals.markAt(null, tools("read"));
  deferrals.markAt("call-1", tools("read", "late"));
  expect(deferrals.markAt("call-2", []).changed).toBe(false);
  const back = deferrals.markAt("call-3", tools("late", "read"));
  expect(points(back.marked)).toEqual([
    ["late", "call-1"],
    ["read", null],
  ]);
  expect(back.changed).toBe(false);
  expect(deferrals.initial).toEqual(["read"]);
});

test("only the name counts: another description changes nothing", () => {
  const deferrals = fresh();
  deferrals.markAt(null, [{ name: "read", description: "old" }]);
  const { marked, changed } = deferrals.markAt("call-1", [{ name: "read", description: "new" }]);
  expect(marked).toEqual([{ name: "read", description: "new" }]);
  expect(changed).toBe(false);
});

test("several late tools of one call share its load point and keep their order", () => {
  const deferrals = fresh();
  deferrals.markAt(null, tools("read"));
  expect(deferrals.markAt("call-1", tools("b", "read", "a")).changed).toBe(true);
  expect([...deferrals.loadPoints]).toEqual([
    ["b", "call-1"],
    ["a", "call-1"],
  ]);
});

test("nothing needs a load point before the baseline, nor what only search can find", () => {
  const deferrals = fresh();
  expect(deferrals.late(tools("read"))).toEqual([]);
  deferrals.markAt(null, []);
  expect(deferrals.late([searchOnly("read")])).toEqual([]);
});

test("no baseline, an empty one and a full one each come back from JSON as they were", () => {
  const none = fresh();
  expect(JSON.stringify(none)).toBe('{"initial":null,"loadPoints":{}}');
  expect(reload(none).initial).toBeNull();
  expect(reload(none).markAt("call-1", tools("read")).changed).toBe(true);

  const empty = fresh();
  empty.markAt(null, []);
  expect(JSON.stringify(empty)).toBe('{"initial":[],"loadPoints":{}}');
  expect(points(reload(empty).markAt("call-1", tools("read")).marked)).toEqual([["read", "call-1"]]);

  const full = fresh();
  full.markAt(null, tools("read"));
  full.markAt("call-1", tools("read", "late"));
  expect(JSON.stringify(full)).toBe('{"initial":["read"],"loadPoints":{"late":"call-1"}}');
  expect(reload(full)).toEqual(full);
  expect(reload(full).markAt("call-2", tools("read", "late")).changed).toBe(false);
});

test("fields that a later release added are kept", () => {
  const text = '{"initial":["read"],"loadPoints":{},"since":{"turn":3},"v":2}';
  const deferrals = ToolDeferrals.parse(text, "s");
  deferrals.markAt("call-1", tools("late"));
  expect(JSON.parse(JSON.stringify(deferrals.clone()))).toEqual({
    initial: ["read"],
    loadPoints: { late: "call-1" },
    since: { turn: 3 },
    v: 2,
  });
});

test.each([
  ["", "not JSON"],
  ["{", "not JSON"],
  ["null", "not an object"],
  ["[]", "not an object"],
  ['"text"', "not an object"],
  ["{}", "initial"],
  ['{"initial":"read","loadPoints":{}}', "initial"],
  ['{"initial":[1],"loadPoints":{}}', "initial"],
  ['{"initial":[]}', "loadPoints"],
  ['{"initial":[],"loadPoints":[]}', "loadPoints"],
  ['{"initial":[],"loadPoints":{"a":1}}', "loadPoints.a"],
  ['{"initial":[],"loadPoints":{"a":""}}', "loadPoints.a"],
])("malformed text %s is an error that names the session, never no baseline", (text, what) => {
  expect(() => ToolDeferrals.parse(text, "session-7")).toThrow("session-7");
  expect(() => ToolDeferrals.parse(text, "session-7")).toThrow(what);
});

test("a clone goes its own way", () => {
  const deferrals = fresh();
  deferrals.markAt(null, tools("read"));
  const copy = deferrals.clone();
  copy.markAt("call-1", tools("late"));
  expect(deferrals.loadPoints.size).toBe(0);
  deferrals.reset();
  expect(copy.initial).toEqual(["read"]);
});

test("names like __proto__ and constructor are names like any other", () => {
  const deferrals = fresh();
  deferrals.markAt(null, tools("constructor"));
  const { marked } = deferrals.markAt("call-1", tools("constructor", "__proto__", "toString"));
  expect(points(marked)).toEqual([
    ["constructor", null],
    ["__proto__", "call-1"],
    ["toString", "call-1"],
  ]);
  expect(points(reload(deferrals).markAt("call-2", tools("__proto__")).marked)).toEqual([["__proto__", "call-1"]]);
});

test("whatever the calls, a load point never moves, the baseline never changes and `changed` says what was recorded", () => {
  const call = fc.record({
    id: fc.option(fc.constantFrom("call-1", "call-2", "call-3"), { nil: null }),
    tools: fc.uniqueArray(fc.record({ name: fc.constantFrom("a", "b", "c", "d", "e"), searchOnly: fc.boolean() }), {
      selector: (tool) => tool.name,
    }),
  });
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 12 }), (calls) => {
      let deferrals = fresh();
      for (const [i, { id, tools }] of calls.entries()) {
        const before = { initial: deferrals.initial, loadPoints: new Map(deferrals.loadPoints) };
        const late = deferrals.late(tools);
        const { marked, changed } = deferrals.markAt(id, tools);
        expect(marked.map((tool) => tool.name)).toEqual(tools.map((tool) => tool.name));
        if (before.initial !== null) expect(deferrals.initial).toEqual(before.initial);
        for (const [name, point] of before.loadPoints) expect(deferrals.loadPoints.get(name)).toBe(point);
        expect(changed).toBe(i === 0 || deferrals.loadPoints.size > before.loadPoints.size);
        if (i > 0) expect(changed).toBe(late.length > 0 && id !== null);
        deferrals = reload(deferrals);
      }
    }),
  );
});

test("load points without a baseline are malformed: a name could come to stand in both", () => {
  expect(() => ToolDeferrals.parse('{"initial":null,"loadPoints":{"a":"c1"}}', "s9")).toThrow(
    "tool deferrals of session s9 are malformed: loadPoints without a baseline",
  );
});
