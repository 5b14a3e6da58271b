import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { diffLines } from "./line-diff.ts";

/** The comparison takes time and space by the product of the two lengths. */
const MOST_LINES = 1_500;

/** What changed from one text to another. */
export const compareText = defineTool({
  name: "compare_text",
  description: "Compares two texts line by line and shows the differences (diff): lines removed, added and kept.",
  risk: "read",
  idempotent: true,
  input: z.object({
    before: z.string().max(200_000).describe("The old text."),
    after: z.string().max(200_000).describe("The new text."),
  }),
  execute({ before, after }) {
    if (before === after) return "The texts are the same.";
    const [old, fresh] = [linesOf(before), linesOf(after)];
    if (Math.max(old.length, fresh.length) > MOST_LINES) throw new Error(`More than ${MOST_LINES} lines.`);
    const lines = diffLines(old, fresh);
    if (lines.every(({ sign }) => sign === " ")) return "The lines are the same; only their ends (CRLF or LF) differ.";
    const count = (sign: string) => lines.filter((line) => line.sign === sign).length;
    const body = lines.map(({ sign, line }) => `${sign} ${line}`).join("\n");
    return `${count("-")} removed, ${count("+")} added, ${count(" ")} kept\n${body}`;
  },
});

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split(/\r?\n/);
}
