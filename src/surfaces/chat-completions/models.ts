import type { Context } from "hono";
import type { Agent } from "../../define/types.ts";
import type { AppDeps, HttpEnv } from "../../http/deps.ts";
import { HoldfastError } from "../../values/errors.ts";

/** Clients want a date; an agent has none. 2026-01-01. */
const CREATED = 1_767_225_600;

/** The agents that a path offers as models: all of them on bare paths, its own one under `/agents/:name`. */
export function offeredAgents(c: Context<HttpEnv>, deps: Pick<AppDeps, "runtime">): readonly Agent[] {
  return c.var.named ? [c.var.agent] : deps.runtime.agents;
}

/** The agent a body's `model` means. The path's own wins; without a name it is the first agent. */
export function chooseAgent(c: Context<HttpEnv>, deps: Pick<AppDeps, "runtime">, model: string | null): Agent {
  if (c.var.named || !model) return c.var.agent;
  const agent = deps.runtime.agents.find(({ name }) => name === model);
  if (agent !== undefined) return agent;
  const names = deps.runtime.agents.map(({ name }) => name).join(", ");
  throw new HoldfastError({
    reason: "model_not_found",
    message: `There is no model ${JSON.stringify(model)} here. There is: ${names}.`,
  });
}

export function modelObject({ name }: Agent) {
  return { id: name, object: "model", created: CREATED, owned_by: "holdfast" };
}
