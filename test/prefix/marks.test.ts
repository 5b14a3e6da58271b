import { expect, test } from "vitest";
import { type Marks, mark, placeOf } from "../../src/prefix/marks.ts";

const marks: Marks = {
  prefix: {
    settings: mark("model"),
    tools: ["clock", "search"].map(mark),
    system: ["Be brief.", "Be kind."].map(mark),
  },
  items: ["hello", "Hi.", "again"].map(mark),
  deferred: ["weather", "convert"].map(mark),
};
const other = mark("other");
const prefix = (fields: object): Marks => ({ ...marks, prefix: { ...marks.prefix, ...fields } as Marks["prefix"] });

test("a mark is eight bytes", () => {
  expect(mark("hello")).toBe("2cf24dba5fb0a30e");
});

test("what only grew has no place", () => {
  expect(placeOf(marks, marks)).toBeNull();
  const grown = { ...marks, items: [...marks.items, other], deferred: [...marks.deferred, other] };
  expect(placeOf(marks, grown)).toBeNull();
});

test.for([
  ["settings", prefix({ settings: other, tools: [other] })],
  ["inline tool 1", prefix({ tools: [mark("clock"), other], system: [other] })],
  ["inline tool 1", prefix({ tools: [mark("clock")] })],
  ["inline tool 2", prefix({ tools: [mark("clock"), mark("search"), other] })],
  ["system 0", prefix({ system: [other, mark("Be kind.")] })],
  ["system 2", prefix({ system: [mark("Be brief."), mark("Be kind."), other] })],
  ["block 1", { ...marks, items: [mark("hello"), other, mark("again")], deferred: [] }],
  ["block 2", { ...marks, items: marks.items.slice(0, 2) }],
  ["deferred tool 0", { ...marks, deferred: ["convert", "weather"].map(mark) }],
] as const)("the first segment that changed is the place: %s", ([place, now]) => {
  expect(placeOf(marks, now)).toBe(place);
});

test("what was not marked tells nothing, and hides nothing behind it", () => {
  const unmarked: Marks = { prefix: null, items: ["", "", mark("again")], deferred: [""] };
  expect(placeOf(unmarked, prefix({ settings: other }))).toBeNull();
  expect(placeOf(unmarked, { ...marks, items: [other, other, mark("again")] })).toBeNull();
  expect(placeOf(unmarked, { ...marks, items: [other, other, other] })).toBe("block 2");
});
