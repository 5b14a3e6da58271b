import type { Counted } from "../session/contract.ts";
import { HoldfastError } from "../values/errors.ts";

/** What a surface asks of D1 beside the turn. */
const OF_THE_SURFACE = 5;

/** What a step must find left, and its end after it: a model call and its repeat, appends with theirs, some beats. */
const OF_A_STEP = 15;

/**
 * What an isolate asks of others for a turn, counted as the platform counts it, which ends an invocation without a word
 * once it has made too many: model calls with the repeats they may make, requests that tools make by their context's
 * `fetch`, and all calls of the session's object, `beat` included. What is not seen here is what a tool or a hook asks by
 * other ways, such as a binding or the global `fetch`.
 */
export class Subrequests {
  readonly #session: Partial<Counted>;
  readonly #most: number;
  #made = OF_THE_SURFACE;

  constructor(session: Partial<Counted>, most: number) {
    this.#session = session;
    this.#most = most;
  }

  get #spent(): number {
    return this.#made + (this.#session.requests ?? 0);
  }

  /** A model is asked, and again as often as `repeats` if need be. */
  model(repeats: number): void {
    this.#made += 1 + repeats;
  }

  /** A tool asks the outside. Throws when that would take what the turn needs for its end. */
  outside(): void {
    if (this.isSpent) throw this.failure();
    this.#made += 1;
  }

  /** Whether there is too little left for one more step. */
  get isSpent(): boolean {
    return this.#spent + OF_A_STEP > this.#most;
  }

  failure(): HoldfastError {
    const message = `The turn stopped after ${this.#spent} requests to others, of which this agent's limit allows ${this.#most}.`;
    return new HoldfastError({ reason: "limit", limit: "subrequests", message });
  }
}
