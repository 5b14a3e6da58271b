import type { Limits } from "../define/types.ts";
import type { Failure } from "../values/errors.ts";

/** What a turn came to so far. */
export interface Spent {
  /** Tokens that were not read from a cache. */
  readonly tokens: number;
  /** Milliseconds since it began. */
  readonly ms: number;
}

/** Why a turn may make no further model call, or null. How many it may make is counted apart (`budget.ts`). */
export function overLimit(limits: Pick<Limits, "tokens" | "seconds">, { tokens, ms }: Spent): Failure | null {
  if (limits.tokens !== false && tokens >= limits.tokens) return stopped("tokens", limits.tokens);
  return overtime(limits, ms);
}

/** Why a turn that took so long ends wherever it is, or null. */
export function overtime({ seconds }: Pick<Limits, "seconds">, ms: number): Failure | null {
  return seconds !== false && ms >= seconds * 1_000 ? stopped("seconds", seconds) : null;
}

function stopped(limit: "tokens" | "seconds", most: number): Failure {
  return { reason: "limit", limit, message: `The turn stopped after ${most} ${limit}, which is this agent's limit.` };
}
