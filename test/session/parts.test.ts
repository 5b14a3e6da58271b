import fc from "fast-check";
import { expect, test } from "vitest";
import { join, PART_BYTES, pack, split, unpack } from "../../src/session/parts.ts";

const bytes = (text: string) => new TextEncoder().encode(text).byteLength;

test("a text in parts comes together as it was, and no part is too large for a row", () => {
  const long = fc.tuple(fc.constantFrom("a", "ä", "語", "😀", "\ufeff", '"'), fc.nat(3), fc.nat(300_000));
  fc.assert(
    fc.property(fc.array(long, { maxLength: 4 }), (pieces) => {
      const text = pieces.map(([char, shift, count]) => "x".repeat(shift) + char.repeat(count)).join("");
      const parts = split(text);
      for (const part of parts) expect(bytes(part)).toBeLessThanOrEqual(PART_BYTES);
      const rows = parts.map((part, index) => ({ part: index, text: part }));
      expect([...join(rows)].map((row) => row.text)).toEqual([text]);
    }),
    { numRuns: 30 },
  );
});

test("rows of several texts come apart again", () => {
  const rows = [
    { key: 1, part: 0, text: "a" },
    { key: 1, part: 1, text: "b" },
    { key: 2, part: 0, text: "c" },
  ];
  expect([...join(rows)].map(({ key, text }) => [key, text])).toEqual([
    [1, "ab"],
    [2, "c"],
  ]);
});

test("packed lists of JSON texts keep every byte", () => {
  const texts = fc.array(fc.json());
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      expect(unpack(pack([a, b]))).toEqual([a, b]);
    }),
  );
});
