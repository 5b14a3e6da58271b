import * as z from "zod";
import { defineTool } from "../define/tool.ts";

const base = z.int().min(2).max(36);
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

/** Whole numbers of any size in another base. */
export const convertBase = defineTool({
  name: "convert_base",
  description: "Converts a whole number between number bases (radix 2 to 36): binary, octal, decimal, hexadecimal.",
  risk: "read",
  idempotent: true,
  input: z.object({
    number: z.string().min(1).max(1000).describe("The number in its present base; a prefix 0x, 0b or 0o may be there."),
    from: base.default(10).describe("Base it is in."),
    to: base.describe("Base wanted."),
  }),
  execute({ number, from, to }) {
    const value = read(number.trim().toLowerCase(), from);
    return `${number.trim()} (base ${from}) = ${value.toString(to)} (base ${to})`;
  },
});

function read(text: string, from: number): bigint {
  const sign = text.startsWith("-") ? -1n : 1n;
  const unsigned = text.replace(/^[-+]/, "");
  const prefix = new Map([
    [16, "0x"],
    [2, "0b"],
    [8, "0o"],
  ]).get(from);
  const digits = (prefix && unsigned.startsWith(prefix) ? unsigned.slice(2) : unsigned).replaceAll(/[_ ]/g, "");
  if (digits === "") throw new Error("There are no digits.");
  let value = 0n;
  for (const digit of digits) {
    const worth = DIGITS.indexOf(digit);
    if (worth < 0 || worth >= from) throw new Error(`"${digit}" is not a digit of base ${from}.`);
    value = value * BigInt(from) + BigInt(worth);
  }
  return sign * value;
}
