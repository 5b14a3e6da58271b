import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Tool } from "../../src/define/types.ts";
import { compareText } from "../../src/toolkit/compare-text.ts";
import { convertBase } from "../../src/toolkit/convert-base.ts";
import { convertColour } from "../../src/toolkit/convert-colour.ts";
import { convertUnits } from "../../src/toolkit/convert-units.ts";
import { dateAdd } from "../../src/toolkit/date-add.ts";
import { dateDifference } from "../../src/toolkit/date-difference.ts";
import { encodeText } from "../../src/toolkit/encode-text.ts";
import { generateUuid, uuid7 } from "../../src/toolkit/generate-uuid.ts";
import { hashText } from "../../src/toolkit/hash-text.ts";
import { diffLines } from "../../src/toolkit/line-diff.ts";
import { queryJson } from "../../src/toolkit/query-json.ts";
import { romanNumerals } from "../../src/toolkit/roman-numerals.ts";
import { slugify } from "../../src/toolkit/slugify.ts";
import { sortLines } from "../../src/toolkit/sort-lines.ts";
import { statistics } from "../../src/toolkit/statistics.ts";
import { textStatistics } from "../../src/toolkit/text-statistics.ts";
import { everyday, occasional } from "../../src/toolkit/toolkit.ts";
import { findUnit, UNITS } from "../../src/toolkit/units.ts";
import { run } from "./run.ts";

const doc = JSON.stringify({
  orders: [
    { id: 1, items: [{ name: "a" }, { name: "b" }] },
    { id: 2, items: [] },
  ],
  "a key": { x: null },
});

const right: [Tool, object, unknown][] = [
  [convertUnits, { value: 5, from: "miles", to: "km" }, "5 mi = 8.04672 km"],
  [convertUnits, { value: 100, from: "celsius", to: "F" }, "100 °C = 212 °F"],
  [convertUnits, { value: -40, from: "°F", to: "degrees celsius" }, "-40 °F = -40 °C"],
  [convertUnits, { value: 0, from: "K", to: "C" }, "0 K = -273.15 °C"],
  [convertUnits, { value: 1, from: "MB", to: "kB" }, "1 MB = 1000 kB"],
  [convertUnits, { value: 6, from: "FEET", to: "m" }, "6 ft = 1.8288 m"],
  [convertUnits, { value: 1, from: "nautical mile", to: "m" }, "1 nmi = 1852 m"],
  [convertUnits, { value: 90, from: "minutes", to: "hours" }, "90 min = 1.5 h"],
  [convertUnits, { value: 36, from: "km/h", to: "m/s" }, "36 km/h = 10 m/s"],
  [convertUnits, { value: 1, from: "fl oz", to: "mL" }, "1 fl oz = 29.57352956 mL"],
  [convertUnits, { value: 1, from: "fl. oz.", to: "fluid ounces" }, "1 fl oz = 1 fl oz"],
  [convertUnits, { value: 1, from: "imp gal", to: "L" }, "1 imp gal = 4.54609 L"],
  [convertUnits, { value: 1, from: "imperial gallons", to: "imp gal" }, "1 imp gal = 1 imp gal"],
  [convertUnits, { value: 60, from: "miles per hour", to: "km/h" }, "60 mph = 96.56064 km/h"],
  [convertUnits, { value: 2, from: "square metres", to: "m2" }, "2 m² = 2 m²"],
  [convertUnits, { value: 1, from: "calorie", to: "J" }, "1 cal = 4.184 J"],
  [convertUnits, { value: 2, from: "Calories", to: "J" }, "2 kcal = 8368 J"],
  [convertUnits, { value: 1, from: "kcal", to: "cal" }, "1 kcal = 1000 cal"],
  [convertUnits, { value: -459.67, from: "F", to: "K" }, "-459.67 °F = 0 K"],
  [convertUnits, { value: 32, from: "F", to: "C" }, "32 °F = 0 °C"],
  [convertUnits, { value: -273.15, from: "C", to: "F" }, "-273.15 °C = -459.67 °F"],
  [convertUnits, { value: 1, from: "Mb", to: "MB" }, "1 Mbit = 0.125 MB"],
  [convertUnits, { value: 100, from: "megabits", to: "megabytes" }, "100 Mbit = 12.5 MB"],
  [convertUnits, { value: 1, from: "Mg", to: "mg" }, "1 t = 1000000000 mg"],
  [convertUnits, { value: 123456789012345, from: "B", to: "bytes" }, "123456789012345 B = 123456789012345 B"],
  [convertColour, { colour: "rgb(50%, 0%, 0%)" }, { hex: "#800000", rgb: "rgb(128, 0, 0)", hsl: "hsl(0, 100%, 25%)" }],
  [
    convertColour,
    { colour: "rgb( 254.6 100% 0 )" },
    { hex: "#ffff00", rgb: "rgb(255, 255, 0)", hsl: "hsl(60, 100%, 50%)" },
  ],
  [
    convertColour,
    { colour: "hsl(120deg 100 25)" },
    { hex: "#008000", rgb: "rgb(0, 128, 0)", hsl: "hsl(120, 100%, 25%)" },
  ],
  [convertColour, { colour: "#ff8800" }, { hex: "#ff8800", rgb: "rgb(255, 136, 0)", hsl: "hsl(32, 100%, 50%)" }],
  [convertColour, { colour: "#F80" }, { hex: "#ff8800", rgb: "rgb(255, 136, 0)", hsl: "hsl(32, 100%, 50%)" }],
  [
    convertColour,
    { colour: "rgb(0 128 128)" },
    { hex: "#008080", rgb: "rgb(0, 128, 128)", hsl: "hsl(180, 100%, 25%)" },
  ],
  [
    convertColour,
    { colour: "hsl(240, 100%, 50%)" },
    { hex: "#0000ff", rgb: "rgb(0, 0, 255)", hsl: "hsl(240, 100%, 50%)" },
  ],
  [convertColour, { colour: "Grey" }, { hex: "#808080", rgb: "rgb(128, 128, 128)", hsl: "hsl(0, 0%, 50%)" }],
  [convertBase, { number: "255", to: 16 }, "255 (base 10) = ff (base 16)"],
  [convertBase, { number: "0xFF", from: 16, to: 2 }, "0xFF (base 16) = 11111111 (base 2)"],
  [convertBase, { number: "-1010", from: 2, to: 10 }, "-1010 (base 2) = -10 (base 10)"],
  [convertBase, { number: "zz", from: 36, to: 10 }, "zz (base 36) = 1295 (base 10)"],
  [romanNumerals, { value: 2026 }, "2026 = MMXXVI"],
  [romanNumerals, { value: "mcmxciv" }, "1994 = MCMXCIV"],
  [romanNumerals, { value: "3999" }, "3999 = MMMCMXCIX"],
  [
    dateDifference,
    { from: "2026-01-01", to: "2026-03-01" },
    { days: 59, weeks: { weeks: 8, days: 3 }, calendar: { years: 0, months: 2, days: 0 } },
  ],
  [
    dateDifference,
    { from: "2026-03-01", to: "2024-02-29" },
    { days: -731, weeks: { weeks: 104, days: 3 }, calendar: { years: 2, months: 0, days: 1 } },
  ],
  [
    dateDifference,
    { from: "2026-05-05", to: "2026-05-05" },
    { days: 0, weeks: { weeks: 0, days: 0 }, calendar: { years: 0, months: 0, days: 0 } },
  ],
  [dateAdd, { date: "2026-01-31", months: 1 }, { date: "2026-02-28", weekday: "Saturday" }],
  [dateAdd, { date: "2024-02-29", years: 1 }, { date: "2025-02-28", weekday: "Friday" }],
  [dateAdd, { date: "2026-03-01", days: -1, weeks: -1 }, { date: "2026-02-21", weekday: "Saturday" }],
  [
    textStatistics,
    { text: "Hello world. How are you?\n\nFine 👍🏽." },
    { characters: 34, words: 6, sentences: 3, lines: 3, paragraphs: 2, readingSeconds: 2 },
  ],
  [textStatistics, { text: "" }, { characters: 0, words: 0, sentences: 0, lines: 0, paragraphs: 0, readingSeconds: 0 }],
  [dateAdd, { date: "0050-01-31", months: 1 }, { date: "0050-02-28", weekday: "Monday" }],
  [dateAdd, { date: "2026-01-01", years: -2025 }, { date: "0001-01-01", weekday: "Monday" }],
  [
    dateDifference,
    { from: "0099-12-31", to: "0101-01-01" },
    { days: 366, weeks: { weeks: 52, days: 2 }, calendar: { years: 1, months: 0, days: 1 } },
  ],
  [compareText, { before: "a\r\nb", after: "a\nb" }, "The lines are the same; only their ends (CRLF or LF) differ."],
  [compareText, { before: "a\nb\nc", after: "a\nx\nc" }, "1 removed, 1 added, 2 kept\n  a\n- b\n+ x\n  c"],
  [compareText, { before: "", after: "a" }, "0 removed, 1 added, 0 kept\n+ a"],
  [compareText, { before: "a", after: "a" }, "The texts are the same."],
  [sortLines, { text: "b\na\nb\n" }, "a\nb\nb"],
  [sortLines, { text: "item 10\nitem 9", numeric: true }, "item 9\nitem 10"],
  [sortLines, { text: "a\nb\na", order: "descending", unique: true }, "b\na"],
  [slugify, { text: "  Crème Brûlée & Straße, Teil 2! " }, "creme-brulee-strasse-teil-2"],
  [sortLines, { text: "-9\n1.5\n-10\n1.10\nx", numeric: true }, "-10\n-9\n1.10\n1.5\nx"],
  [slugify, { text: "\u{1d400}bc" }, "abc"],
  [slugify, { text: "\u{20000}\u{20001}", maxLength: 3 }, "\u{20000}"],
  [slugify, { text: "one two three", maxLength: 8 }, "one-two"],
  [slugify, { text: "你好 世界" }, "你好-世界"],
  [encodeText, { text: "héllo?", format: "base64" }, "aMOpbGxvPw=="],
  [encodeText, { text: "aMOpbGxvPw", format: "base64url", direction: "decode" }, "héllo?"],
  [encodeText, { text: "a b&c", format: "url" }, "a%20b%26c"],
  [encodeText, { text: "a+b%26c", format: "url", direction: "decode" }, "a b&c"],
  [encodeText, { text: "Hi", format: "hex" }, "4869"],
  [encodeText, { text: "48 69", format: "hex", direction: "decode" }, "Hi"],
  [hashText, { text: "abc" }, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [hashText, { text: "abc", algorithm: "SHA-1" }, "a9993e364706816aba3e25717850c26c9cd0d89d"],
  [hashText, { text: "", algorithm: "SHA-512", encoding: "base64" }, createHash("sha512").update("").digest("base64")],
  [hashText, { text: "é", algorithm: "SHA-384" }, createHash("sha384").update("é").digest("hex")],
  [queryJson, { json: doc, path: "$.orders[0].items[*].name" }, '["a","b"]'],
  [queryJson, { json: doc, path: "orders[-1].id" }, "2"],
  [queryJson, { json: doc, path: '$["a key"].x' }, "null"],
  [queryJson, { json: doc, path: "$.orders.*.items.*" }, '[{"name":"a"},{"name":"b"}]'],
  [queryJson, { json: "[1]", path: "$" }, "[1]"],
  [queryJson, { json: '{"id":12345678901234567890,"x":0.1}', path: "$" }, '{"id":12345678901234567890,"x":0.1}'],
  [queryJson, { json: '{"id":12345678901234567890}', path: "id" }, "12345678901234567890"],
  [
    statistics,
    { numbers: [2, 4, 4, 4, 5, 5, 7, 9] },
    {
      count: 8,
      sum: 40,
      mean: 5,
      median: 4.5,
      min: 2,
      max: 9,
      variance: 4,
      standardDeviation: 2,
      sampleStandardDeviation: 2.1380899352994,
    },
  ],
  [
    statistics,
    { numbers: [0.1, 0.2] },
    {
      count: 2,
      sum: 0.3,
      mean: 0.15,
      median: 0.15,
      min: 0.1,
      max: 0.2,
      variance: 0.0025,
      standardDeviation: 0.05,
      sampleStandardDeviation: 0.0707106781186548,
    },
  ],
  [
    statistics,
    { numbers: [7] },
    {
      count: 1,
      sum: 7,
      mean: 7,
      median: 7,
      min: 7,
      max: 7,
      variance: 0,
      standardDeviation: 0,
      sampleStandardDeviation: null,
    },
  ],
];

test.each(right.map(([tool, input, expected]) => ({ name: tool.spec.name, input, tool, expected })))(
  "$name of $input gives what is right",
  async ({ tool, input, expected }) => {
    expect(await run(tool, input)).toEqual(expected);
  },
);

const wrong: [Tool, object, string][] = [
  [convertUnits, { value: 1, from: "parsnip", to: "m" }, 'The unit "parsnip" is not known'],
  [convertUnits, { value: 1, from: "kg", to: "m" }, "kg is a unit of mass, m one of length"],
  [convertUnits, { value: 1, from: "mb", to: "kB" }, 'The unit "mb" may be Mbit or MB; write it'],
  [convertUnits, { value: 1, from: "CALORIE", to: "J" }, 'The unit "CALORIE" may be cal or kcal'],
  [convertUnits, { value: -1, from: "K", to: "C" }, "-1 K is below absolute zero"],
  [convertUnits, { value: 1e308, from: "ly", to: "nm" }, "too large"],
  [convertUnits, { value: "5", from: "kg", to: "g" }, "value: "],
  [convertColour, { colour: "#12" }, "is not a colour"],
  [convertColour, { colour: "rgb(300, 0, 0)" }, "is not a colour"],
  [convertColour, { colour: "rgb(1, 2)" }, "is not a colour"],
  [convertColour, { colour: "rgb(1, 2,)" }, "is not a colour"],
  [convertColour, { colour: "rgb(0x10, 2, 3)" }, "is not a colour"],
  [convertColour, { colour: "rgb(1deg, 2, 3)" }, "is not a colour"],
  [convertColour, { colour: "rgb(101%, 0%, 0%)" }, "is not a colour"],
  [convertColour, { colour: "hsl(50%, 100%, 50%)" }, "is not a colour"],
  [convertColour, { colour: "constructor" }, "is not a colour"],
  [convertBase, { number: "12", from: 2, to: 10 }, '"2" is not a digit of base 2'],
  [convertBase, { number: "0x", from: 16, to: 10 }, "no digits"],
  [convertBase, { number: "1", to: 37 }, "to: "],
  [romanNumerals, { value: 0 }, "from 1 to 3999"],
  [romanNumerals, { value: 4000 }, "from 1 to 3999"],
  [romanNumerals, { value: "IIII" }, '"IIII" is not a Roman numeral; 4 is IV'],
  [romanNumerals, { value: "hello" }, "is not a Roman numeral"],
  [dateDifference, { from: "2026-02-30", to: "2026-03-01" }, "from: must be a date that exists"],
  [dateAdd, { date: "1 March", days: 1 }, "date: must be a date"],
  [dateAdd, { date: "2026-01-01", years: 9000 }, "years 1 to 9999"],
  [dateAdd, { date: "2026-01-01", years: 100_000 }, "years 1 to 9999"],
  [dateAdd, { date: "0001-01-01", days: -1 }, "years 1 to 9999"],
  [dateAdd, { date: "0000-01-01" }, "date: must be a date of the years 1 to 9999"],
  [compareText, { before: "a\n".repeat(2000), after: "" }, "More than 1500 lines"],
  [slugify, { text: "?!" }, "no letters or digits"],
  [encodeText, { text: "*", format: "base64", direction: "decode" }, "not Base64"],
  [encodeText, { text: "abc", format: "hex", direction: "decode" }, "not hexadecimal"],
  [encodeText, { text: "ff", format: "hex", direction: "decode" }, "not text"],
  [encodeText, { text: "%zz", format: "url", direction: "decode" }, "not percent-encoded"],
  [hashText, { text: "a", algorithm: "MD5" }, "algorithm: "],
  [queryJson, { json: "{", path: "$" }, "The text is not JSON"],
  [queryJson, { json: doc, path: "$.order" }, '$ has no "order"; it has orders, a key'],
  [queryJson, { json: doc, path: "orders[9]" }, "$.orders has 2 items, none at 9"],
  [queryJson, { json: doc, path: "orders[0].id.x" }, "$.orders[0].id is 1"],
  [queryJson, { json: doc, path: "orders[?(@.id)]" }, "can't be read"],
  [queryJson, { json: "{}", path: "__proto__" }, 'no "__proto__"'],
  [queryJson, { json: '{"id":12345678901234567890}', path: "id.x" }, "$.id is 12345678901234567890, nothing"],
  [statistics, { numbers: [1e308, 1e308] }, "too large to add up"],
  [statistics, { numbers: [] }, "numbers: "],
  [generateUuid, { count: 0 }, "count: "],
];

test.each(wrong.map(([tool, input, message]) => ({ name: tool.spec.name, input, tool, message })))(
  "$name of $input fails and says $message",
  async ({ tool, input, message }) => {
    await expect(run(tool, input)).rejects.toThrow(message);
  },
);

test("a sum keeps small numbers beside large ones", async () => {
  expect(await run(statistics, { numbers: [1e16, 1, -1e16] })).toMatchObject({ sum: 1 });
});

test("every unit is known by each name and symbol of it, and by the symbol that the tool prints", async () => {
  for (const { symbol, names } of UNITS) {
    for (const name of [symbol, ...names, names.at(-1)?.replaceAll("_", " ") ?? ""]) {
      expect(findUnit(name).symbol, name).toBe(symbol);
    }
  }
});

test("an error names what is there in a few words, however large it is", async () => {
  const json = JSON.stringify({ a: "x".repeat(100_000), ["k".repeat(100_000)]: 1 });
  for (const path of ["a.b", "c"]) {
    const problem = await run(queryJson, { json, path }).catch(String);
    expect(String(problem).length).toBeLessThan(1_000);
  }
});

test("texts made to be slow for a regular expression are not", async () => {
  const slow: [Tool, object][] = [
    [textStatistics, { text: "\n ".repeat(100_000) }],
    [textStatistics, { text: `\n${" ".repeat(199_998)}x` }],
    [sortLines, { text: "\r".repeat(200_000), numeric: true }],
    [sortLines, { text: `1${" ".repeat(99_998)}x\n`.repeat(2), numeric: true }],
    [encodeText, { text: "=".repeat(200_000), format: "hex" }],
    [slugify, { text: "-!".repeat(500) }],
    [queryJson, { json: "{}", path: '["\\'.repeat(125) }],
    [convertColour, { colour: `rgb(${" ".repeat(50)}` }],
    [convertUnits, { value: 1, from: `m${" ".repeat(38)}x`, to: "_".repeat(40) }],
  ];
  for (const [tool, input] of slow) {
    const started = performance.now();
    await run(tool, input).catch(() => undefined);
    expect(performance.now() - started, tool.spec.name).toBeLessThan(2_000);
  }
});

test("UUIDs are of the version asked for, and of version 7 those of a later time sort later", async () => {
  const of = async (version: number) => JSON.stringify(await run(generateUuid, { count: 3, version }));
  expect(await of(4)).toMatch(/^\{"uuids":\["[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",/);
  expect(await of(7)).toMatch(/^\{"uuids":\["[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",/);
  expect(uuid7(Date.parse("2022-02-22T19:22:22Z")).slice(0, 15)).toBe("017f22e2-79b0-7");
  expect(uuid7(1_000) < uuid7(2_000)).toBe(true);
});

test("a comparison holds both texts: without the added lines the old one, without the removed lines the new one", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 10 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = diffLines(before, after);
      const without = (sign: string) => diff.filter((line) => line.sign !== sign).map(({ line }) => line);
      expect(without("+")).toEqual(before);
      expect(without("-")).toEqual(after);
    }),
  );
});

test("what was encoded is decoded to the same text", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("base64", "base64url", "url", "hex"),
      async (text, format) => {
        const encoded = await run(encodeText, { text, format });
        expect(await run(encodeText, { text: encoded, format, direction: "decode" })).toBe(text);
      },
    ),
  );
});

test("every Roman numeral reads back as its number", async () => {
  for (let n = 1; n <= 3999; n += 37) {
    const [, roman = ""] = String(await run(romanNumerals, { value: n })).split(" = ");
    expect(await run(romanNumerals, { value: roman })).toBe(`${n} = ${roman}`);
  }
});

test("all tools that ship only read, may run again, and describe each of their fields", () => {
  for (const { spec, risk, idempotent, lazy } of [...everyday, ...occasional]) {
    expect([spec.name, risk, idempotent, lazy]).toEqual([spec.name, "read", true, false]);
    const fields = Object.values(Object(spec.inputSchema.properties));
    expect(
      fields.every((field) => String(Object(field).description).length > 3),
      spec.name,
    ).toBe(true);
  }
});
