import * as z from "zod";
import { TRANSFER_TOOL } from "../values/tool.ts";
import { defineTool } from "./tool.ts";
import type { Agent, Tool } from "./types.ts";

/** Far more than a task needs, and far below what a row takes. */
const MOST_CHARS = 100_000;

/** How deep agents may hand tasks on: one that has subagents which have none is 1 deep. */
const DEEPEST = 5;

const TRANSFER = z.object({ agent: z.string(), task: z.string().trim().min(1).max(MOST_CHARS) });

/** An input of the tool that was checked already. */
export function transferInput(input: unknown): { readonly agent: string; readonly task: string } {
  return TRANSFER.parse(input);
}

/** The tool that hands a task to one of these agents; none where there is none. The runtime runs it (`turn/transfer.ts`). */
export function transferTools(subagents: readonly Agent[]): Tool[] {
  if (subagents.length === 0) return [];
  const described = subagents.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return [
    defineTool({
      name: TRANSFER_TOOL,
      description:
        "Hands a task to another agent, which works on it by itself and answers with its result. It knows nothing of " +
        `this conversation: say all that it needs. Tasks that don't depend on each other can be handed over at once.\n${described}`,
      input: TRANSFER.extend({ agent: z.enum(subagents.map(({ name }) => name)) }),
      // A sub-session goes on where it was: to be asked again does nothing twice.
      idempotent: true,
      execute: () => {
        throw new Error("tasks are handed over by the runtime");
      },
    }),
  ];
}

/** What is wrong with an agent's subagents, or null: a cycle, by names, and too long a chain are found here. */
export function subagentsProblem(name: string, subagents: readonly Agent[]): string | null {
  if (!Array.isArray(subagents) || subagents.some((agent) => typeof agent?.name !== "string")) {
    return "subagents must be a list of agents made by defineAgent";
  }
  const names = subagents.map((agent) => agent.name);
  const twice = names.find((one, index) => names.indexOf(one) !== index);
  if (twice !== undefined) return `the subagent "${twice}" is listed twice`;
  const cycle = pathTo(name, subagents);
  if (cycle !== null) return `its subagents lead back to it: ${[name, ...cycle].join(" → ")}`;
  const depth = depthOf(subagents);
  return depth > DEEPEST ? `its subagents go ${depth} deep, and at most ${DEEPEST} is allowed` : null;
}

function pathTo(name: string, subagents: readonly Agent[]): string[] | null {
  for (const agent of subagents) {
    if (agent.name === name) return [name];
    const rest = pathTo(name, agent.subagents);
    if (rest !== null) return [agent.name, ...rest];
  }
  return null;
}

function depthOf(subagents: readonly Agent[]): number {
  return Math.max(0, ...subagents.map((agent) => 1 + depthOf(agent.subagents)));
}
