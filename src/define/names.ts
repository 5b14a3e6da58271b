import {
  BRIDGE_TOOL,
  ENTER_PLAN_TOOL,
  NAME_PATTERN,
  SEARCH_TOOL,
  SUBMIT_PLAN_TOOL,
  TRANSFER_TOOL,
} from "../values/tool.ts";

const NAME_RULE = "must start with a letter and have at most 64 letters, digits, _ and -";

/** What is wrong with a name of an agent, a tool or a mode, or null. */
export function nameProblem(what: string, name: unknown): string | null {
  if (typeof name === "string" && NAME_PATTERN.test(name)) return null;
  return `the ${what} name ${JSON.stringify(name)} ${NAME_RULE}`;
}

/** Names that the runtime gives to tools of its own, so that no other tool can make their evidence. */
export function reservedNames(): ReadonlySet<string> {
  return new Set([SEARCH_TOOL, BRIDGE_TOOL, ENTER_PLAN_TOOL, SUBMIT_PLAN_TOOL, TRANSFER_TOOL]);
}

/** Names that occur more than once, each once. */
export function duplicates(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return [...new Set(names.filter((name) => seen.size === seen.add(name).size))];
}
