import type { Agent } from "./types.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long an agent's sessions are kept while nobody uses them, in milliseconds; null is for good. */
export function keepMs({ retentionDays }: Pick<Agent, "retentionDays">): number | null {
  return retentionDays === undefined ? null : retentionDays * DAY_MS;
}

/** What is wrong with a number of days, or null. */
export function retentionProblem(days: unknown): string | null {
  if (days === undefined || (typeof days === "number" && Number.isFinite(days) && days > 0)) return null;
  return "retentionDays must be a number of days above 0";
}
