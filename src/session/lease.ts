import type { TurnEnd } from "./contract.ts";

/** What a `begin` may do with the session as it stands. */
export type Claim =
  /** No turn is running. */
  | { readonly kind: "free" }
  /** This very `begin` has the lease already: its answer was lost on the way. */
  | { readonly kind: "again" }
  /** The running turn's lease ran out: its isolate counts as dead. */
  | { readonly kind: "takeover" }
  /** A turn is running, at least until `until` if nothing more is heard of it. */
  | { readonly kind: "busy"; readonly until: number };

/** What becomes of a session's turn when the lease's timer rings. */
export type Watched =
  /** Nothing is to be done: no turn runs, or the next message takes it over, since nobody else can be asked. */
  | { readonly kind: "rest" }
  /** Its isolate was heard of since: look again then. */
  | { readonly kind: "alive"; readonly until: number }
  /** The isolate is silent, and the turn ends. */
  | { readonly kind: "over"; readonly status: "failed" | "stopped"; readonly end: TurnEnd }
  /** The isolate is silent: another one goes on, which is this attempt. */
  | { readonly kind: "goes_on"; readonly attempts: number };

/** A turn whose isolate died so often has something in it that kills them. */
const MOST_ATTEMPTS = 3;

/** How long a `begin` waits for the running turn to end. */
export const HOLD_MS = 5_000;

/**
 * Decides who gets the session. `until` is when the running turn's lease runs out, `attempt` the turn id that `begin`
 * came with. Times in milliseconds since the epoch.
 */
export function claim(
  holder: { readonly status: string; readonly attempt: string },
  until: number,
  attempt: string,
  now: number,
): Claim {
  if (holder.status !== "running") return { kind: "free" };
  if (holder.attempt === attempt) return { kind: "again" };
  return now >= until ? { kind: "takeover" } : { kind: "busy", until };
}

/** Whole seconds, at least one, until a lease that nobody renews has run out. */
export function retryAfter(until: number, now: number): number {
  return Math.max(1, Math.ceil((until - now) / 1000));
}

/**
 * Decides about a turn when its lease's timer rings. `until` as above; `runs`: there is somebody who can be asked to go
 * on with it. Where nobody is, the next message goes on with it; but none comes to a sub-session. Times in milliseconds
 * since the epoch.
 */
export function watched(
  holder: {
    readonly status: string;
    readonly cancel: number;
    readonly attempts: number;
    readonly parent: string | null;
  },
  until: number,
  runs: boolean,
  now: number,
): Watched {
  if (holder.status !== "running") return { kind: "rest" };
  if (now < until) return { kind: "alive", until };
  if (holder.cancel !== 0) return { kind: "over", status: "stopped", end: { stop: "stopped" } };
  if (!runs && holder.parent === null) return { kind: "rest" };
  if (runs && holder.attempts < MOST_ATTEMPTS) return { kind: "goes_on", attempts: holder.attempts + 1 };
  const message = `The turn was given up: its isolate was lost ${holder.attempts} times.`;
  return { kind: "over", status: "failed", end: { failure: { reason: "limit", limit: "attempts", message } } };
}
