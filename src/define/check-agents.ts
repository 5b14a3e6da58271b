import { DefinitionError } from "./definition-error.ts";
import { duplicates } from "./names.ts";
import type { Agent } from "./types.ts";

/** Checks the agents of a worker together. Throws {@link DefinitionError} when there are none or two share a name. */
export function checkAgents(agents: readonly Agent[]): void {
  if (agents.length === 0) throw new DefinitionError("a worker needs at least one agent", {});
  for (const name of duplicates(agents.map((agent) => agent.name))) {
    throw new DefinitionError("two agents have this name", { agent: name });
  }
  for (const { name, subagents } of agents) {
    const missing = subagents.find((subagent) => !agents.some((agent) => agent.name === subagent.name));
    if (missing === undefined) continue;
    throw new DefinitionError(`its subagent "${missing.name}" is not among the worker's agents`, { agent: name });
  }
}
