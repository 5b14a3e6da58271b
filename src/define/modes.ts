import { AGENT_MODE } from "../catalog/catalog.ts";
import { isPattern, matchesPattern } from "../catalog/pattern.ts";
import { nameProblem } from "./names.ts";
import { unknownOptions, unknownOptionsProblem } from "./options.ts";
import type { Mode, Tool } from "./types.ts";

const OPTIONS = ["allow", "core"];

/** What is wrong with an agent's modes, or null. A pattern that matches no tool is taken for a slip of the pen. */
export function modesProblem(modes: Readonly<Record<string, Mode>>, tools: readonly Tool[]): string | null {
  for (const [name, mode] of Object.entries(modes)) {
    const problem = nameProblem("mode", name) ?? modeProblem(name, mode, tools);
    if (problem !== null) return problem;
  }
  return null;
}

function modeProblem(name: string, mode: Mode, tools: readonly Tool[]): string | null {
  if (name === AGENT_MODE) return `the mode "${AGENT_MODE}" is the mode of all tools and can't be defined`;
  const unknown = unknownOptions(mode, OPTIONS);
  if (unknown.length > 0) return unknownOptionsProblem(`the mode "${name}"`, unknown, OPTIONS);
  const { allow, core = [] } = mode;
  if (!Array.isArray(allow)) return `the mode "${name}" needs a list of names or patterns as "allow"`;
  if (!Array.isArray(core)) return `the mode "${name}" needs a list of names or patterns as "core"`;
  const names = tools.map((tool) => tool.spec.name);
  const lazy = tools.filter((tool) => tool.lazy).map((tool) => tool.spec.name);
  const here = lazy.filter((tool) => allow.some((pattern) => matchesPattern(String(pattern), tool)));
  return (
    patternsProblem(`the mode "${name}" allows`, allow, names, "matches none of its tools") ??
    patternsProblem(`the mode "${name}" makes core`, core, here, "matches none of the lazy tools that it allows")
  );
}

function patternsProblem(what: string, patterns: readonly unknown[], names: readonly string[], none: string) {
  for (const pattern of patterns) {
    if (typeof pattern !== "string" || !isPattern(pattern)) {
      return `${what} ${JSON.stringify(pattern)}, which is not a name with * for any characters`;
    }
    if (!names.some((name) => matchesPattern(pattern, name))) return `${what} "${pattern}", which ${none}`;
  }
  return null;
}
