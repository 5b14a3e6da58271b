import fc from "fast-check";
import { expect, test } from "vitest";
import { wholeCharacters } from "../../src/providers/whole-characters.ts";

test.for([
  ['{"a":"\\ud83d"}', '{"a":"\\ufffd"}'],
  ['{"a":"\\uD83D\\n"}', '{"a":"\\ufffd\\n"}'],
  ['{"a":"\\ude00\\ud83d"}', '{"a":"\\ufffd\\ufffd"}'],
  ['{"a":"\\ud83d\\ud83d\\ude00"}', '{"a":"\\ufffd\\ud83d\\ude00"}'],
  ['{"a":"\\ud83d\\ude00 😀 \\\\ud83d"}', '{"a":"\\ud83d\\ude00 😀 \\\\ud83d"}'],
  ['{"a":"\ud83d', '{"a":"\ufffd'],
] as const)("Half a character is mended, and nothing else: %s", ([given, mended]) => {
  expect(wholeCharacters(given)).toBe(mended);
});

test("Text of whole characters stays as it is, and any JSON becomes one of whole characters", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "grapheme" }), fc.array(fc.nat(0xffff)), (value, units) => {
      const whole = JSON.stringify(value);
      expect(wholeCharacters(whole)).toBe(whole);
      const any = JSON.stringify(String.fromCharCode(...units));
      const read: unknown = JSON.parse(wholeCharacters(any));
      expect(read).toBe(String.fromCharCode(...units).toWellFormed());
    }),
  );
});
