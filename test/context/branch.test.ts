import { expect, test } from "vitest";
import { survives } from "../../src/context/branch.ts";
import { ToolDeferrals } from "../../src/values/tool-deferrals.ts";
import { answer, hostSearch, numbered, results, user } from "./entries.ts";

const loadedAt = (id: string) =>
  ToolDeferrals.parse(JSON.stringify({ initial: ["clock"], loadPoints: { late: id } }), "s");

test("deferrals go with a history that holds the call of every load point, with its result", () => {
  const history = numbered(user("a"), answer("", "t", "c1"), results(2, "c1"));
  expect(survives(loadedAt("c1"), history)).toBe(true);
  expect(survives(loadedAt("c2"), history)).toBe(false);
  expect(survives(loadedAt("c1"), history.slice(0, 2))).toBe(false);
});

test("a host search is such a call", () => {
  const history = numbered(user("a"), answer("b"), hostSearch("h", { at: "after", seq: 2 }));
  expect(survives(loadedAt("h"), history)).toBe(true);
});

test("a call that a client brought is none", () => {
  const [asked, called, answered] = numbered(user("a"), answer("", "t", "c1"), results(2, "c1"));
  if (!asked || !called || !answered) throw new Error("three entries");
  const brought = { ...called, entry: { ...called.entry, origin: "client" } as typeof called.entry };
  expect(survives(loadedAt("c1"), [asked, brought, answered])).toBe(false);
});

test("a baseline without load points always goes along", () => {
  expect(survives(ToolDeferrals.parse('{"initial":[],"loadPoints":{}}', "s"), [])).toBe(true);
});
