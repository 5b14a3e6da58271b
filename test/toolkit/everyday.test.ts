import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluate } from "../../src/toolkit/arithmetic.ts";
import { calculator } from "../../src/toolkit/calculator.ts";
import { clock, timeIn } from "../../src/toolkit/clock.ts";
import { random } from "../../src/toolkit/random.ts";
import { run } from "./run.ts";

const moment = new Date("2026-03-01T13:05:09Z");

test.each([
  ["UTC", "2026-03-01T13:05:09+00:00", "Sunday"],
  ["Europe/Berlin", "2026-03-01T14:05:09+01:00", "Sunday"],
  ["Asia/Kolkata", "2026-03-01T18:35:09+05:30", "Sunday"],
  ["Pacific/Auckland", "2026-03-02T02:05:09+13:00", "Monday"],
  ["America/New_York", "2026-03-01T08:05:09-05:00", "Sunday"],
])("the clock in %s", (timeZone, time, weekday) => {
  expect(timeIn(timeZone, moment)).toEqual({ time, weekday, timeZone });
});

test("midnight is hour 00", () => {
  expect(timeIn("UTC", new Date("2026-01-01T00:00:00Z")).time).toBe("2026-01-01T00:00:00+00:00");
});

test("the clock tells UTC unless asked otherwise, and says when a zone does not exist", async () => {
  expect(await run(clock, {})).toMatchObject({ timeZone: "UTC" });
  await expect(run(clock, { timeZone: "Mars/Olympus" })).rejects.toThrow('"Mars/Olympus" is not an IANA time zone');
  await expect(run(clock, { timeZone: 7 })).rejects.toThrow("timeZone: ");
});

test.each([
  ["1 + 2 * 3", 7],
  ["(1 + 2) * 3", 9],
  ["2 ^ 3 ^ 2", 512],
  ["2 ** 10", 1024],
  ["-2 ^ 2", -4],
  ["2 ^ -1", 0.5],
  ["10 % 4 - 3", -1],
  ["0.1 + 0.2", 0.3],
  ["1.5e3 / 5", 300],
  [".5 * 4", 2],
  ["sqrt(16) + abs(-3)", 7],
  ["max(1, 7, 3) - min(4, 2)", 5],
  ["round(2.5) + floor(1.9) + ceil(1.1)", 6],
  ["ln(e) + log(1000) + exp(0)", 5],
  ["sin(pi / 2) + cos(0) + tan(0)", 2],
  ["--3", 3],
  ["6 ÷ 2 × 3 − 1", 8],
])("%s is %d", (expression, value) => {
  expect(evaluate(expression)).toBe(value);
});

test.each([
  ["", "ends too early"],
  ["1 +", "ends too early"],
  ["(1 + 2", "not closed"],
  ["1 2", '"2" is not expected there'],
  ["1 / 0", "not a finite number"],
  ["sqrt(-1)", "not a finite number"],
  ["sqrt 4", "needs brackets"],
  ["process.exit()", '".exit()" is not part'],
  ["process(1)", '"process" is not expected'],
  ["constructor(1)", '"constructor" is not expected'],
  ["1; 2", '"; 2" is not part'],
  ["a = 1", '"= 1" is not part'],
])("%j is refused: %s", (expression, message) => {
  expect(() => evaluate(expression)).toThrow(message);
});

test("the calculator shows the expression with its value, and takes no endless one", async () => {
  expect(await run(calculator, { expression: " 6 * 7 " })).toBe("6 * 7 = 42");
  await expect(run(calculator, { expression: "(".repeat(501) })).rejects.toThrow("expression: ");
  await expect(run(calculator, { expression: "(".repeat(500) })).rejects.toThrow("ends too early");
});

test("sums and products of whole numbers are what JavaScript says", () => {
  const n = fc.integer({ min: -1000, max: 1000 });
  fc.assert(
    fc.property(n, n, n, (a, b, c) => {
      expect(evaluate(`(${a}) + (${b}) * (${c}) - (${a} - ${b})`)).toBe(a + b * c - (a - b));
    }),
  );
});

test("random numbers lie within their bounds, in the number asked for", async () => {
  const result = await run(random, { min: -3, max: 3, count: 100 });
  const numbers = typeof result === "object" && result !== null && "numbers" in result ? result.numbers : null;
  if (!Array.isArray(numbers)) throw new Error("a list of numbers");
  expect(numbers).toHaveLength(100);
  expect(numbers.every((n) => Number.isInteger(n) && n >= -3 && n <= 3)).toBe(true);
  expect(await run(random, { min: 5, max: 5 })).toEqual({ numbers: [5] });
});

test.each([{ min: 3, max: 1 }, { min: 0, max: 2 ** 32 }, { min: 0.5 }, { count: 0 }, { count: 101 }])(
  "random refuses %j",
  async (input) => {
    await expect(run(random, input)).rejects.toThrow();
  },
);
