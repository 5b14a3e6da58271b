import fc from "fast-check";
import { expect, test } from "vitest";
import { fragments } from "./fragments.ts";
import { elements, member, members } from "./raw-json.ts";
import { withoutMembers } from "./without-members.ts";

const none: ReadonlySet<string> = new Set();
const spaces = fc.constantFrom(undefined, 1, 2, "\t");

test("The slices of an object and of an array are the JSON of their parts", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.array(fc.jsonValue()),
      spaces,
      (object, array, space) => {
        const text = JSON.stringify(object, null, space);
        const parts = members(text, 0).map(({ key, value }) => [key, JSON.parse(text.slice(value.start, value.end))]);
        expect(parts).toEqual(Object.entries(JSON.parse(text)));
        const list = JSON.stringify(array, null, space);
        expect(elements(list, 0).map(({ start, end }) => JSON.parse(list.slice(start, end)))).toEqual(JSON.parse(list));
      },
    ),
  );
});

test("Without a member the rest is the same JSON as without it from the start", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify({ value, list: [{ a: 1, mark: value, b: 2 }, { mark: 1 }], mark: 1, last: 1 });
      const expected = JSON.parse(text, function (this: unknown, key, inner) {
        return key === "mark" ? undefined : inner;
      });
      expect(JSON.parse(withoutMembers(text, ["mark"], none))).toEqual(expected);
    }),
  );
});

test("Bytes that stay are not touched", () => {
  const text = '{ "mark": 1, "b" : [1,  2],\n"mark": {"x": "}"}, "c":"\\"mark\\"" }';
  expect(withoutMembers(text, ["mark"], none)).toBe('{ "b" : [1,  2], "c":"\\"mark\\"" }');
  expect(withoutMembers('{"input":{"mark":1}}', ["mark"], new Set(["input"]))).toBe('{"input":{"mark":1}}');
});

test("Of a key that stands twice the last one counts", () => {
  const text = '{"a":1,"a":22}';
  expect(member(text, 0, "a")).toEqual({ start: 11, end: 13 });
});

test("Fragments join to the text and cut no character", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (text, sizes) => {
        const pieces = fragments(text, sizes);
        expect(pieces.join("")).toBe(text);
        expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
      },
    ),
  );
});
