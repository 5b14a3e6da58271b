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
  ["0 ^ 0", 1],
  ["-7 % 3", -1],
  ["round(-2.5) + ceil(-1.5) + floor(-1.5)", -5],
  ["max(1/3, 0.3) * 3", 1],
  ["sqrt(2.25)", 1.5],
])("%s is %d", (expression, value) => {
  expect(Number(evaluate(expression).text)).toBe(value);
});

test.each([
  ["123456789*987654321", "= 121932631112635269"],
  ["10^16+1", "= 10000000000000001"],
  ["10^16 + 0.1 - 10^16", "= 0.1"],
  ["1e16 + 1", "= 10000000000000001"],
  ["2^100", "= 1267650600228229401496703205376"],
  ["(-3)^41", "= -36472996377170786403"],
  ["0.1 + 0.2", "= 0.3"],
  ["1/3 + 1/3 + 1/3", "= 1"],
  ["2^-3", "= 0.125"],
  ["99999999999999999999 % 7", "= 1"],
  ["99999999999999999999 / 3", "= 33333333333333333333"],
  ["sqrt(10^40)", "= 100000000000000000000"],
  ["floor(10^20 / 7)", "= 14285714285714285714"],
  ["0.1 * 123456789012345678", "≈ 12345678901234600"],
  ["1 / 3", "≈ 0.333333333333333"],
  ["2 ^ 0.5", "≈ 1.4142135623731"],
  ["sin(1)", "≈ 0.841470984807897"],
])("the calculator says %s %s: exact where it says so, and rounded where it says that", async (expression, value) => {
  expect(await run(calculator, { expression })).toBe(`${expression} ${value}`);
});

test("what is too large to stay exact is worked out as a float", () => {
  const { text, isExact } = evaluate("1.001 ^ 5000");
  expect(isExact).toBe(false);
  expect(Number(text)).toBeCloseTo(148.0428361625406, 9);
});

test("a number too large to print is refused at once, however it is asked for", () => {
  const started = performance.now();
  const huge = ["9^9^9^9", "10^1000 * 10^1000", "(10^999)^999", "1e999999999", "2^99999999999999999999", "3^(2^300)"];
  for (const expression of huge) expect(() => evaluate(expression), expression).toThrow("too large");
  expect(evaluate(`(1/${"9".repeat(150)})^${"9".repeat(300)}`).text).toBe("0");
  expect(performance.now() - started).toBeLessThan(1_000);
});

test.each([
  ["", "ends too early"],
  ["1 +", "ends too early"],
  ["(1 + 2", "not closed"],
  ["1 2", '"2" is not expected there'],
  ["1 / 0", "division by zero"],
  ["5 % (1 - 1)", "division by zero"],
  ["0 ^ -1", "division by zero"],
  ["sin(1, 2)", "takes one number"],
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

test("sums and products of whole numbers are what whole numbers of any size say", () => {
  const n = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
  fc.assert(
    fc.property(n, n, n, (a, b, c) => {
      expect(evaluate(`(${a}) + (${b}) * (${c}) - (${a} - ${b})`)).toEqual({
        text: String(a + b * c - (a - b)),
        isExact: true,
      });
    }),
  );
});

test("fractions come back: a / b * b is a", () => {
  const n = fc.bigInt({ min: 1n, max: 10n ** 40n });
  fc.assert(
    fc.property(n, n, (a, b) => {
      expect(evaluate(`${a} / ${b} * ${b}`)).toEqual({ text: String(a), isExact: true });
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
