/** What a history came to: what came up in it, how many requests it made, and the first promise that was broken. */
export class Findings {
  readonly seen = new Set<string>();
  requests = 0;
  failure: Error | null = null;

  /** Notes that a promise was broken, if it is the first. Returns what to throw. */
  broken(what: string): Error {
    this.failure ??= new Error(`request ${this.requests}: ${what}`);
    return this.failure;
  }

  /** Runs a check. What it throws is a broken promise. */
  guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      throw this.broken(error instanceof Error ? error.message : String(error));
    }
  }
}
