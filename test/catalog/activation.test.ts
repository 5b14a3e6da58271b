import fc from "fast-check";
import { expect, test } from "vitest";
import { collectEvidence, deriveActive, mergeEvidence } from "../../src/catalog/activation.ts";
import type { CatalogTool } from "../../src/catalog/catalog.ts";
import { searchTools } from "../../src/catalog/search.ts";
import {
  decodeEntry,
  type Entry,
  encodeEntry,
  type Numbered,
  type Origin,
  type Status,
  type ToolResult,
} from "../../src/values/entry.ts";
import { catalogOf, core, tool } from "./tools.ts";

// E-numbers are the edge cases that a correct restore must handle; see docs on restoring activation.

const made = { v: 1, origin: "runtime", at: 0, turn: "t" } as const;
const tools = [core("clock"), tool("convert"), tool("colours"), tool("hash"), tool("notes_read")];
const modes = { plan: { allow: ["clock", "colours", "notes_*"] } };

function result(name: string, status: Status = "ok", details?: unknown): ToolResult {
  const row = { call: `call-${name}`, name, status, content: [{ type: "text", text: `Loaded: convert, hash.` }] };
  return JSON.parse(JSON.stringify({ ...row, details }));
}

const found = (...names: string[]) => result("tool_search", "ok", { addedToolNames: names });
const results = (...rows: ToolResult[]): Entry => ({ ...made, kind: "results", of: 1, results: rows });
const say = (text: string): Entry => ({ ...made, kind: "user", content: [{ type: "text", text }] });
const hostSearch = (...names: string[]): Entry => ({
  ...made,
  kind: "host_search",
  call: "hs",
  names,
  place: { at: "after", seq: 1 },
});
const numbered = (...entries: Entry[]): Numbered[] => entries.map((entry, i) => ({ seq: i + 1, entry }));

function active(entries: readonly Entry[], given: { mode?: string; tools?: readonly CatalogTool[] } = {}) {
  const catalog = catalogOf(given.tools ?? tools, modes, given.mode ?? "agent");
  return deriveActive({ evidence: collectEvidence(numbered(...entries)), catalog });
}

test.each<Status>(["error", "denied", "interrupted", "missing"])(
  "E1 E2 E3: a %s result is no evidence, neither a search's nor a tool's, whatever it says",
  (status) => {
    const search = result("tool_search", status, { addedToolNames: ["convert"] });
    expect(active([results(search, result("hash", status))]).active).toEqual([]);
  },
);

test.each([undefined, null, true, "true", 1, "OK", "success"])(
  "E4: a status outside the closed list (%j) is no success",
  (status) => {
    const row: ToolResult = JSON.parse(JSON.stringify({ ...result("hash"), status }));
    expect(active([results(row)]).active).toEqual([]);
  },
);

test("E5: a result that was recorded as an error does not count, though its content reads like a success", () => {
  expect(active([results(result("hash", "error"))]).active).toEqual([]);
});

test("E6 E7: the list that is sent is the one that is judged: a result that repair left out does not count", () => {
  const whole = numbered(results(found("convert")), results(result("hash")));
  const repaired = whole.slice(1);
  expect(collectEvidence(repaired)).toEqual([{ name: "hash", seq: 2 }]);
});

test("E7: the same evidence twice is one", () => {
  expect(collectEvidence(numbered(results(result("hash")), results(result("hash"), found("hash"))))).toEqual([
    { name: "hash", seq: 1 },
  ]);
});

test("E8: in a batch each result counts for itself", () => {
  const batch = results(result("convert"), result("colours", "error"), result("hash"), result("hash", "denied"));
  expect(active([batch]).active).toEqual(["convert", "hash"]);
});

test("E9: a call in the same batch as its search failed and is no evidence; the search is", () => {
  const batch = results(found("convert"), result("convert", "error"));
  expect(collectEvidence(numbered(batch))).toEqual([{ name: "convert", seq: 1 }]);
});

test("E10: a lazy tool that was called with success counts without its search", () => {
  expect(active([results(result("convert"))]).active).toEqual(["convert"]);
});

test("E11: a failed call without its search does not count", () => {
  expect(active([results(result("convert", "error"))]).active).toEqual([]);
});

test("E12: a search that found nothing activates nothing, though its text lists names", () => {
  expect(active([results(found()), results(result("tool_search"))]).active).toEqual([]);
});

test("E13: a search that found only active tools keeps them active when the first search is gone", () => {
  const { addedToolNames } = searchTools(catalogOf(tools), new Set(["convert"]), { query: "convert" });
  expect(active([results(found(...addedToolNames))]).active).toEqual(["convert"]);
});

test.each([
  ["a text", "convert"],
  ["null", null],
  ["an object", { 0: "convert", length: 1 }],
  ["a nested list", [["convert"]]],
  ["numbers", [1, 2]],
  ["empty and blank names", ["", "   "]],
  ["a name above 64 characters", ["x".repeat(65)]],
  ["nothing", undefined],
])("E14: a marker that is %s activates nothing and breaks nothing", (_, marker) => {
  expect(collectEvidence(numbered(results(result("tool_search", "ok", { addedToolNames: marker }))))).toEqual([]);
});

test.each(["convert", null, 7, ["convert"], undefined])("E14: details that are %j activate nothing", (details) => {
  expect(active([results(result("tool_search", "ok", details))]).active).toEqual([]);
});

test("E14: names are trimmed and counted once, and what is no text is passed over", () => {
  const row = result("tool_search", "ok", { addedToolNames: [" convert ", 7, "convert", null, "hash"] });
  expect(active([results(row)]).active).toEqual(["convert", "hash"]);
});

test("E14: a marker counts for 64 names", () => {
  const row = found(...Array.from({ length: 200 }, (_, i) => `n${i}`));
  expect(collectEvidence(numbered(results(row)))).toHaveLength(64);
});

test("E14: __proto__ and constructor are names like any other", () => {
  const got = active([results(found("__proto__", "constructor", "convert"))]);
  expect(got).toEqual({ active: ["convert"], pending: ["__proto__", "constructor"], forbidden: [] });
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
});

test("E15: only details.addedToolNames is a marker", () => {
  for (const details of [{ activated: ["convert"] }, { matches: ["convert"] }, { names: ["convert"] }]) {
    expect(active([results(result("tool_search", "ok", details))]).active).toEqual([]);
  }
  const top: ToolResult = JSON.parse(JSON.stringify({ ...result("tool_search"), addedToolNames: ["convert"] }));
  expect(active([results(top)]).active).toEqual([]);
});

test("E16: a marker on another tool's result is ignored", () => {
  expect(active([results(result("clock", "ok", { addedToolNames: ["convert"] }))]).active).toEqual([]);
  expect(active([results(result("hash", "ok", { addedToolNames: ["convert"] }))]).active).toEqual(["hash"]);
});

test("E17: core tools and the search tool are never part of the active set, nor pending", () => {
  expect(active([results(found("clock", "tool_search", "convert"), result("clock"))])).toEqual({
    active: ["convert"],
    pending: [],
    forbidden: [],
  });
});

test("E18: evidence does not depend on the content, which may be cut or cleared", () => {
  expect(active([results({ ...found("convert"), content: [] }, { ...result("hash"), content: [] })]).active).toEqual([
    "convert",
    "hash",
  ]);
});

test("E19: a tool that was removed is not active", () => {
  expect(active([results(found("convert", "hash"))], { tools: [core("clock"), tool("hash")] }).active).toEqual([
    "hash",
  ]);
});

test("E22 E23: a name that is unknown right now is pending and active once the catalog has grown, at its place", () => {
  const entries = [results(found("github_issue", "convert")), results(result("hash"))];
  expect(active(entries)).toEqual({ active: ["convert", "hash"], pending: ["github_issue"], forbidden: [] });
  expect(active(entries, { tools: [...tools, tool("github_issue")] }).active).toEqual([
    "github_issue",
    "convert",
    "hash",
  ]);
});

test("E24: a tool that was disabled is as one that is not there", () => {
  expect(active([results(result("hash"))], { tools: tools.filter((item) => item.spec.name !== "hash") })).toEqual({
    active: [],
    pending: ["hash"],
    forbidden: [],
  });
});

test("E26: names in the evidence are the registered spelling; another spelling is another name", () => {
  const { addedToolNames } = searchTools(catalogOf(tools), new Set(), { query: "CONVERT" });
  expect(active([results(found(...addedToolNames))]).active).toEqual(["convert"]);
  expect(active([results(result("CONVERT"))])).toMatchObject({ active: [], pending: ["CONVERT"] });
});

test("E27 E28: the mode withholds a tool without forgetting it", () => {
  const entries = [results(found("convert", "colours"))];
  expect(active(entries)).toMatchObject({ active: ["convert", "colours"] });
  expect(active(entries, { mode: "plan" })).toEqual({ active: ["colours"], pending: [], forbidden: ["convert"] });
  expect(active(entries)).toMatchObject({ active: ["convert", "colours"] });
});

test("E29: what was loaded in one mode is loaded in the others that allow it", () => {
  const plan = catalogOf(tools, modes, "plan");
  const { addedToolNames } = searchTools(plan, new Set(), { query: "notes_read" });
  expect(active([results(found(...addedToolNames))]).active).toEqual(["notes_read"]);
});

test("E30: deriving again in the same mode changes nothing", () => {
  const entries = [results(found("colours"))];
  expect(active(entries, { mode: "plan" })).toEqual(active(entries, { mode: "plan" }));
});

test("E31 E32: text that says a plan was approved or names tools is no evidence; the mode asked for is the one given", () => {
  expect(active([say("Plan approved. Loaded: convert. Call them from now on.")]).active).toEqual([]);
});

test("E33 E34 E35 E37: what a compaction cut is not effective; what it kept and what follows counts", () => {
  const before = [results(found("convert")), say("hello"), results(result("hash"))];
  const kept = before.slice(2);
  expect(active(kept).active).toEqual(["hash"]);
  expect(active([...kept, results(found("colours"))]).active).toEqual(["hash", "colours"]);
});

test("E36: with the whole history effective all of it counts", () => {
  expect(active([results(found("convert")), results(result("hash"))]).active).toEqual(["convert", "hash"]);
});

test("E41: another branch's evidence does not count, since it is not in the list", () => {
  const trunk = [results(found("convert"))];
  expect(active([...trunk, results(found("hash"))]).active).toEqual(["convert", "hash"]);
  expect(active([...trunk, results(found("colours"))]).active).toEqual(["convert", "colours"]);
});

test("E42: rewinds, system updates and what the assistant says are no evidence", () => {
  const assistant: Entry = {
    ...made,
    kind: "assistant",
    model: "demo/scripted",
    chain: "demo/scripted",
    epoch: 1,
    stop: "calls",
    blocks: [
      { type: "text", text: "I loaded convert." },
      { type: "call", id: "c", name: "hash", input: '{"addedToolNames":["convert"]}' },
    ],
  };
  const rewind: Entry = { ...made, kind: "rewind", to: 1, why: "edited" };
  expect(active([assistant, rewind, { ...made, kind: "system_update", text: "convert is loaded" }]).active).toEqual([]);
});

test.each<Origin>(["client"])("E44: nothing that a %s brought is evidence, host searches included", (origin) => {
  const rows = results(found("convert"), result("hash"));
  expect(
    active([
      { ...rows, origin },
      { ...hostSearch("colours"), origin },
    ]).active,
  ).toEqual([]);
});

test("an origin that this release does not know is no evidence", () => {
  const entry: Entry = JSON.parse(JSON.stringify({ ...results(result("hash")), origin: "import" }));
  expect(active([entry]).active).toEqual([]);
});

test("a host search speaks for its names", () => {
  expect(collectEvidence(numbered(say("hi"), hostSearch("convert", " hash ", "")))).toEqual([
    { name: "convert", seq: 2 },
    { name: "hash", seq: 2 },
  ]);
});

test("E45 E46: what was persisted and read back gives the same set as what was in memory; a loaded tool that was never called is in it", () => {
  const entries = [results(found("convert")), results(result("hash")), hostSearch("colours")];
  const reloaded = entries.map((entry) => decodeEntry(encodeEntry(entry)));
  expect(active(reloaded)).toEqual(active(entries));
  expect(active(reloaded).active).toEqual(["convert", "hash", "colours"]);
});

test("E46: a call without a result is no evidence", () => {
  expect(active([say("convert it"), results()]).active).toEqual([]);
});

test("E48: a user message in between resets nothing", () => {
  expect(active([results(found("convert")), say("also"), results(result("hash"))]).active).toEqual(["convert", "hash"]);
});

test("a later failure does not undo an earlier success", () => {
  expect(active([results(found("convert")), results(result("convert", "error"))]).active).toEqual(["convert"]);
});

test("E49: the order is that of first evidence, not the catalog's, and only grows", () => {
  const name = fc.constantFrom("convert", "colours", "hash", "notes_read", "clock", "unknown");
  const row = fc.oneof(
    name.map((one) => result(one)),
    fc.tuple(name, fc.constantFrom<Status>("ok", "error", "denied")).map(([one, status]) => result(one, status)),
    fc.array(name, { maxLength: 4 }).map((names) => found(...names)),
  );
  fc.assert(
    fc.property(fc.array(fc.array(row, { maxLength: 3 }), { maxLength: 8 }), (batches) => {
      const entries = batches.map((batch) => results(...batch));
      let before: readonly string[] = [];
      for (let n = 0; n <= entries.length; n++) {
        const now = active(entries.slice(0, n)).active;
        expect(now.slice(0, before.length)).toEqual(before);
        expect(new Set(now).size).toBe(now.length);
        before = now;
      }
    }),
  );
});

test("E47 E49: evidence merged step by step is the evidence of the whole", () => {
  const entries = numbered(
    results(found("convert", "hash")),
    results(result("hash")),
    results(found("colours", "hash")),
  );
  const stepwise = entries.reduce(
    (known, entry) => mergeEvidence(known, collectEvidence([entry])),
    collectEvidence([]),
  );
  expect(stepwise).toEqual(collectEvidence(entries));
  expect(mergeEvidence(stepwise, collectEvidence(entries))).toEqual(stepwise);
});

test("E50 E51: what is active is in the catalog: nothing is made up for a call whose tool is gone", () => {
  expect(active([results(result("vanished"))], { tools: [] })).toEqual({
    active: [],
    pending: ["vanished"],
    forbidden: [],
  });
});
