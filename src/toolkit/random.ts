import * as z from "zod";
import { defineTool } from "../define/tool.ts";

/** Whole numbers by chance: dice, coins, lots. */
export const random = defineTool({
  name: "random",
  description: "Draws whole random numbers between two bounds, both included: dice, coin flips, lots.",
  risk: "read",
  idempotent: true,
  input: z
    .object({
      min: z.int().default(1).describe("Lowest number, included."),
      max: z.int().default(100).describe("Highest number, included."),
      count: z.int().min(1).max(100).default(1).describe("How many numbers to draw."),
    })
    .refine(({ min, max }) => max >= min && max - min < 2 ** 32, "max must be at least min, by less than 2^32"),
  execute: ({ min, max, count }) => ({ numbers: Array.from({ length: count }, () => draw(min, max)) }),
});

function draw(min: number, max: number): number {
  const choices = max - min + 1;
  // Draws from the incomplete last stretch are thrown away: they would favour small numbers.
  const fair = 2 ** 32 - (2 ** 32 % choices);
  const box = new Uint32Array(1);
  do crypto.getRandomValues(box);
  while ((box[0] ?? 0) >= fair);
  return min + ((box[0] ?? 0) % choices);
}
