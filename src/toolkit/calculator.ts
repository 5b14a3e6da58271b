import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { evaluate } from "./arithmetic.ts";

/** Arithmetic, by a parser of its own: nothing is ever run as code. */
export const calculator = defineTool({
  name: "calculator",
  description:
    "Works out an arithmetic expression: + - * / % ^, brackets, pi, e and the functions abs, ceil, cos, exp, floor, ln, " +
    "log, max, min, round, sin, sqrt, tan (angles in radians). = is exact; ≈ says that the result was rounded.",
  risk: "read",
  idempotent: true,
  input: z.object({
    expression: z.string().min(1).max(500).describe('Such as "(2 + 3) * sqrt(16) / 7".'),
  }),
  execute({ expression }) {
    const { text, isExact } = evaluate(expression);
    return `${expression.trim()} ${isExact ? "=" : "≈"} ${text}`;
  },
});
