import * as z from "zod";
import { defineTool } from "../define/tool.ts";

/** Lines in order. */
export const sortLines = defineTool({
  name: "sort_lines",
  description: "Sorts the lines of a text alphabetically or by number, up or down, and can drop duplicate lines.",
  risk: "read",
  idempotent: true,
  input: z.object({
    text: z.string().max(200_000).describe("The lines, one below the other."),
    order: z.enum(["ascending", "descending"]).default("ascending").describe("Which way."),
    numeric: z.boolean().default(false).describe("Compare the numbers in the lines as numbers: 9 before 10."),
    unique: z.boolean().default(false).describe("Keep each line once."),
  }),
  execute({ text, order, numeric, unique }) {
    const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
    const sorted = (unique ? [...new Set(lines)] : lines).sort(numeric ? byNumber() : new Intl.Collator("en").compare);
    return (order === "ascending" ? sorted : sorted.reverse()).join("\n");
  },
});

/** Lines that are numbers come first, by value (-10 before -9.5); numbers inside of others count as whole ones. */
function byNumber(): (a: string, b: string) => number {
  const { compare } = new Intl.Collator("en", { numeric: true });
  const value = (line: string) => (/^\s*[+-]?\d+(\.\d+)?\s*$/.test(line) ? Number(line) : null);
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x !== null && y !== null) return x - y || compare(a, b);
    if (x === null && y === null) return compare(a, b);
    return x === null ? 1 : -1;
  };
}
