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
