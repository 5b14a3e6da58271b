import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { sumOf, tidy } from "./numbers.ts";

/** Figures that describe a list of numbers. */
export const statistics = defineTool({
  name: "statistics",
  description:
    "Describes a list of numbers: count, sum, mean (average), median, minimum, maximum, variance, standard deviation.",
  risk: "read",
  idempotent: true,
  input: z.object({ numbers: z.array(z.number()).min(1).max(10_000).describe("The numbers, in any order.") }),
  execute({ numbers }) {
    const sorted = [...numbers].sort((a, b) => a - b);
    const sum = sumOf(numbers);
    const mean = sum / numbers.length;
    const squares = sumOf(numbers.map((n) => (n - mean) ** 2));
    if (!Number.isFinite(squares)) throw new Error("The numbers are too large to add up.");
    const sample = numbers.length > 1 ? squares / (numbers.length - 1) : null;
    return {
      count: numbers.length,
      sum: tidy(sum),
      mean: tidy(mean),
      median: tidy(((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2),
      min: sorted[0],
      max: sorted.at(-1),
      variance: tidy(squares / numbers.length),
      standardDeviation: tidy(Math.sqrt(squares / numbers.length)),
      sampleStandardDeviation: sample === null ? null : tidy(Math.sqrt(sample)),
    };
  },
});
