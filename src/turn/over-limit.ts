import type { Limits } from "../define/types.ts";
import type { Failure } from "../values/errors.ts";
import type { Budget } from "./budget.ts";

/**
 * Why a turn that took so long (`ms` since it began) and whose budget is such may make no further model call, or null. How
 * many it may make is asked of the budget itself.
 */
export function overLimit(
  limits: Pick<Limits, "tokens" | "seconds">,
  { taken, tokensLeft }: Pick<Budget, "taken" | "tokensLeft">,
  ms: number,
): Failure | null {
  if (tokensLeft > 0) return overtime(limits, ms);
  // That of a sub-session may be used up because the turn's is that handed the task over.
  return stopped("tokens", limits.tokens === false ? taken.tokens : Math.min(limits.tokens, taken.tokens));
}

/** Why a turn that took so long ends wherever it is, or null. */
export function overtime({ seconds }: Pick<Limits, "seconds">, ms: number): Failure | null {
  return seconds !== false && ms >= seconds * 1_000 ? stopped("seconds", seconds) : null;
}

function stopped(limit: "tokens" | "seconds", most: number): Failure {
  return { reason: "limit", limit, message: `The turn stopped after ${most} ${limit}, which is this agent's limit.` };
}
