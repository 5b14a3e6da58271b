import type { Agent } from "../define/types.ts";

/**
 * Model calls and tokens that a turn may still take. Those of a sub-session count for the turn that handed the task over,
 * too. Tokens are those that were not read from a cache.
 */
export class Budget {
  readonly #most: { readonly calls: number; readonly tokens: number };
  readonly #taken = { calls: 0, tokens: 0 };
  readonly #parent: Budget | null;

  constructor(calls: number, tokens: number, parent: Budget | null = null) {
    this.#most = { calls, tokens };
    this.#parent = parent;
  }

  /** Calls that are left, here and above. */
  get left(): number {
    return Math.max(0, Math.min(this.#most.calls - this.#taken.calls, this.#parent?.left ?? Number.POSITIVE_INFINITY));
  }

  get tokensLeft(): number {
    const above = this.#parent?.tokensLeft ?? Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(this.#most.tokens - this.#taken.tokens, above));
  }

  /** What was taken so far. */
  get taken(): { readonly calls: number; readonly tokens: number } {
    return this.#taken;
  }

  /** Takes a call if there is one left, here and above. */
  take(): boolean {
    if (this.left === 0) return false;
    this.spend(1, 0);
    return true;
  }

  /** Calls that were made elsewhere, and tokens. */
  spend(calls: number, tokens: number): void {
    this.#taken.calls += calls;
    this.#taken.tokens += tokens;
    this.#parent?.spend(calls, tokens);
  }
}

/** What a turn of an agent may take, at most what is left of the one that handed its task over. */
export function budgetOf(
  { limits }: Agent,
  above: { readonly steps: number; readonly tokens?: number } | undefined,
  parent: Budget | null = null,
): Budget {
  const most = (limit: number | false | undefined) => (limit === false ? undefined : limit) ?? Number.POSITIVE_INFINITY;
  return new Budget(
    Math.min(limits.steps, most(above?.steps)),
    Math.min(most(limits.tokens), most(above?.tokens)),
    parent,
  );
}
