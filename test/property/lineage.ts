import type { Cause, Verdict } from "../../src/values/turn-event.ts";
import { type Layout, layoutDifference } from "../emulators/common/layout.ts";
import { difference } from "./tail.ts";

/** A request that was answered, so that what it wrote to the cache can be read. */
export interface Answered {
  readonly layout: Layout;
  readonly cached: number;
  readonly at: number;
}

/** How long the provider keeps what was written, in milliseconds. */
export const TTL_MS = 300_000;

/**
 * The answered requests of a chain that its session still stands on, the newest of each user message (by its number from
 * 0): what a copy of the session can go on from.
 */
export class Lineage {
  readonly #answered = new Map<number, Answered>();

  /** Another request was accepted: those that it does not extend are history. */
  accepted(layout: Layout): void {
    for (const [message, before] of this.#answered) {
      if (difference(before.layout, layout) !== null) this.#answered.delete(message);
    }
  }

  add(message: number, answered: Answered): void {
    this.#answered.set(message, answered);
  }

  /** Messages from that one on are told anew, on whichever model. */
  cut(message: number): void {
    for (const known of this.#answered.keys()) if (known >= message) this.#answered.delete(known);
  }

  /** What a copy with so many user messages has of it. */
  before(messages: number): Lineage {
    const copy = new Lineage();
    for (const [message, answered] of this.#answered) if (message < messages) copy.add(message, answered);
    return copy;
  }

  get newest(): Answered | null {
    return this.#answered.get(Math.max(...this.#answered.keys())) ?? null;
  }
}

/** Whether the provider looks back far enough to find what an earlier request wrote at its end. */
export function reaches(
  earlier: Layout,
  { layout, reach }: { readonly layout: Layout; readonly reach?: number | undefined },
): boolean {
  return reach === undefined || layout.blocks.length - earlier.blocks.length <= reach;
}

/** A chain as a copy was given it. */
export interface Given {
  readonly newest: Answered | null;
  /** Why it is over there, as the copy was made; null where it goes on. */
  readonly ended: Cause | null;
  /** Why its newest epoch began, which stands where none of what was answered in it is in the copy; null for its first. */
  readonly began: Cause | null;
}

/**
 * The first request of a copy extends the newest answered request that holds nothing else, and reads all that this one had
 * in the cache (but for what the provider itself drops, so that it was not `ideal` to read it); or it breaks for the
 * reason that the copy was given. Throws otherwise.
 */
export function checkFirst(
  { newest, ended }: Given,
  accepted: {
    readonly layout: Layout;
    readonly readTokens: number;
    readonly idealTokens: number;
    readonly inlineOnly: boolean;
    readonly reach?: number | undefined;
  },
  verdict: Verdict,
  now: number,
): void {
  const { layout, readTokens, idealTokens } = accepted;
  const said = JSON.stringify(verdict);
  const cause = verdict.prefix === "break" ? verdict.cause : null;
  if (ended !== null) {
    // The request that said so may have died before it was sent, and the one that is has a reason of its own.
    const another = accepted.inlineOnly && cause === "late_inline";
    if (cause !== ended && !another)
      throw new Error(`a copy whose chain was ended by ${ended}, and the ledger calls it ${said}`);
    return;
  }
  if (newest === null) {
    if (cause === "unexpected") throw new Error(`the ledger calls the first request of a copy ${said}`);
    return;
  }
  const why = difference(newest.layout, layout);
  if (why !== null) throw new Error(`a copy does not extend what it was made of: ${why}`);
  if (layoutDifference(newest.layout, layout) !== null) {
    // Its answer is not in the copy, so what it ended with is not either, and an earlier request is what counts.
    if (cause === "unexpected") throw new Error(`the ledger calls the first request of a copy ${said}`);
    return;
  }
  if (verdict.prefix !== "extends") throw new Error(`a copy extends what it was made of: the ledger calls it ${said}`);
  const cached = Math.min(newest.cached, idealTokens);
  if (now < newest.at + TTL_MS && reaches(newest.layout, accepted) && readTokens < cached) {
    throw new Error(`a copy read ${readTokens} cached tokens where ${cached} were possible`);
  }
}
