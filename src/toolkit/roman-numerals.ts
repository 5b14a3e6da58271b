import * as z from "zod";
import { defineTool } from "../define/tool.ts";

const NUMERALS: readonly (readonly [string, number])[] = [
  ["M", 1000],
  ["CM", 900],
  ["D", 500],
  ["CD", 400],
  ["C", 100],
  ["XC", 90],
  ["L", 50],
  ["XL", 40],
  ["X", 10],
  ["IX", 9],
  ["V", 5],
  ["IV", 4],
  ["I", 1],
];

/** Between Roman numerals and ours, either way. */
export const romanNumerals = defineTool({
  name: "roman_numerals",
  description: "Converts a whole number from 1 to 3999 to a Roman numeral, or a Roman numeral to a number.",
  risk: "read",
  idempotent: true,
  input: z.object({ value: z.union([z.string().max(20), z.int()]).describe('Such as 2026 or "MMXXVI".') }),
  execute({ value }) {
    const text = String(value).trim().toUpperCase();
    const number = /^\d+$/.test(text) ? Number(text) : fromRoman(text);
    if (number < 1 || number > 3999) throw new Error("Roman numerals go from 1 to 3999.");
    const roman = toRoman(number);
    if (!/^\d/.test(text) && roman !== text)
      throw new Error(`"${text}" is not a Roman numeral; ${number} is ${roman}.`);
    return `${number} = ${roman}`;
  },
});

function toRoman(number: number): string {
  let rest = number;
  let roman = "";
  for (const [numeral, worth] of NUMERALS) {
    roman += numeral.repeat(Math.floor(rest / worth));
    rest %= worth;
  }
  return roman;
}

function fromRoman(text: string): number {
  let rest = text;
  let number = 0;
  for (const [numeral, worth] of NUMERALS) {
    while (rest.startsWith(numeral)) {
      number += worth;
      rest = rest.slice(numeral.length);
    }
  }
  if (rest !== "" || text === "") throw new Error(`"${text}" is not a Roman numeral.`);
  return number;
}
