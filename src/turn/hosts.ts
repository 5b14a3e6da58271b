import type { TurnHost } from "./start.ts";

const hosts = new Map<string, TurnHost>();

/**
 * Makes a worker's agents known to its `TurnRunner`, which the platform makes without asking the worker. Called once
 * for each `holdfast()`, when the worker starts.
 */
export function registerHost(host: TurnHost): void {
  for (const { name } of host.runtime.agents) hosts.set(name, host);
}

/** What runs the turns of an agent in this isolate; null when no `holdfast()` has it. */
export function hostOf(agent: string): TurnHost | null {
  return hosts.get(agent) ?? null;
}
