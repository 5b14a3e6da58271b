import { AGENT_MODE } from "../catalog/catalog.ts";
import { isPattern, matchesPattern } from "../catalog/pattern.ts";
import { nameProblem } from "./names.ts";
import { unknownOptions, unknownOptionsProblem } from "./options.ts";
import type { Mode } from "./types.ts";

/** What is wrong with an agent's modes, or null. A pattern that matches no tool is taken for a slip of the pen. */
export function modesProblem(modes: Readonly<Record<string, Mode>>, tools: readonly string[]): string | null {
  for (const [name, mode] of Object.entries(modes)) {
    const problem = nameProblem("mode", name) ?? modeProblem(name, mode, tools);
    if (problem !== null) return problem;
  }
  return null;
}

function modeProblem(name: string, mode: Mode, tools: readonly string[]): string | null {
  if (name === AGENT_MODE) return `the mode "${AGENT_MODE}" is the mode of all tools and can't be defined`;
  const unknown = unknownOptions(mode, ["allow"]);
  if (unknown.length > 0) return unknownOptionsProblem(`the mode "${name}"`, unknown, ["allow"]);
  if (!Array.isArray(mode.allow)) return `the mode "${name}" needs a list of names or patterns as "allow"`;
  for (const pattern of mode.allow) {
    if (typeof pattern !== "string" || !isPattern(pattern)) {
      return `the mode "${name}" allows ${JSON.stringify(pattern)}, which is not a name with * for any characters`;
    }
    if (!tools.some((tool) => matchesPattern(pattern, tool))) {
      return `the mode "${name}" allows "${pattern}", which matches none of its tools`;
    }
  }
  return null;
}
