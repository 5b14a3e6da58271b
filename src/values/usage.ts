/**
 * Tokens of one model call or of several, in one form for every provider: `input` is what was neither read from nor
 * written to the cache (net accounting), so the whole input is `input + cacheRead + cacheWrite`.
 */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** Tokens of several model calls, and how many calls that were. */
export interface UsageSum extends Usage {
  readonly calls: number;
}

export const NO_USAGE: Usage = Object.freeze({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0 });

/** The sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
  };
}

/** What model calls of a turn's own and its sub-sessions came to. */
export function sumUsage(all: readonly UsageSum[]): UsageSum {
  const none: UsageSum = { ...NO_USAGE, calls: 0 };
  return all.reduce((sum, one) => ({ ...addUsage(sum, one), calls: sum.calls + one.calls }), none);
}

/** Tokens that were not read from a cache. */
export function newTokens({ input, cacheWrite, output }: Usage): number {
  return input + cacheWrite + output;
}

/** All tokens that went in, cached or not. */
export function inputTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite;
}
