import fc from "fast-check";
import type { Json } from "./json-text.ts";

const LONE = "\ud800";

/** Texts that have broken a parser, a store, a path or a header before. */
const TEXTS = [
  "",
  " ",
  "\u0000",
  "\ufeff",
  "\u202eevil",
  "e\u0301\u0301\u0301",
  "👩‍👩‍👧‍👦",
  "ﷺ".repeat(40),
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "../../etc/passwd",
  "..%2f",
  "%00",
  "'; DROP TABLE sessions; --",
  "{{7*7}}",
  "null",
  "-1",
  "1e999",
  "[object Object]",
  "\r\nx-injected: 1",
  "### Task:\nsay",
  "data:image/png;base64,iVBORw0KGgo=",
  "data:text/html,<script>",
  "https://[",
  "x".repeat(129),
  "x".repeat(5_000),
] as const;

/** Whole numbers and others, spelled as they would arrive. */
const NUMBERS = [
  "-0",
  "1e999",
  "-1e999",
  "1e-999",
  "9007199254740993",
  "18446744073709551616",
  "0.1",
  "-1",
  "0",
  "1",
  "2147483648",
  `1${"0".repeat(400)}`,
];

export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.constantFrom(LONE, `a${LONE}b`, "\udfff") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
  // Halves of surrogate pairs on their own included.
  {
    weight: 1,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
      .map((units) => String.fromCharCode(...units)),
  },
);

const depth = fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constant(20_000));

/** A value of any type and size. */
export const value: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, false, [], { members: [] }, [[]], [null]),
  fc.constantFrom(...NUMBERS).map((text): Json => ({ text })),
  text,
  fc.jsonValue({ maxDepth: 2 }).map((json): Json => ({ text: JSON.stringify(json) })),
  depth.map((levels): Json => ({ text: `${"[".repeat(levels)}${"]".repeat(levels)}` })),
  depth.map((levels): Json => ({ text: `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}` })),
  fc.constantFrom(...TEXTS).map((key): Json => ({ members: [[key, key]] })),
  // A text spelled with escapes, and one of a few hundred kilobytes.
  fc.constantFrom<Json>({ text: '"\\ud800"' }, { text: '"\\u0000\\u2028"' }, { text: `"${"é".repeat(150_000)}"` }),
);

/** What a query's field may carry, which is a number more often than not. */
export const queryValue: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...NUMBERS, "0x10", "1.5", "NaN", "Infinity", "-Infinity", "1,2", "+1", "٣", ""),
  text,
);

/** What a header may carry on its way: no control characters, and nothing above one byte. */
export const headerValue: fc.Arbitrary<string> = fc.oneof(
  text.map((chars) => chars.replace(/[^\t\x20-\x7e\x80-\xff]/g, "").trim()),
  fc.constantFrom("", "0", "-1", "1e9", "a,b", "*/*", "Bearer", "Bearer ", "a/b", "x".repeat(300), "ü"),
);
