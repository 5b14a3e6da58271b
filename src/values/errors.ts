/**
 * Everything that can go wrong with a request or a turn, as data. Surfaces map each reason to their protocol by an
 * exhaustive switch (`http/errors.ts` for HTTP); `message` is safe for the caller, `detail` is for the developer's log
 * and never leaves the worker.
 */
export type Reason =
  | { readonly reason: "bad_request"; readonly path?: string; readonly code?: string }
  | { readonly reason: "unauthorized" }
  | { readonly reason: "forbidden" }
  | { readonly reason: "not_found" }
  | { readonly reason: "gone" }
  | { readonly reason: "too_large" }
  /** Another turn holds the session; `retryAfter` in seconds. */
  | { readonly reason: "busy"; readonly retryAfter: number }
  /** What is asked contradicts what was done already; a repeat can't help. */
  | { readonly reason: "conflict" }
  /** An `Idempotency-Key` that stands for another request. */
  | { readonly reason: "key_reused" }
  | { readonly reason: "model_not_found" }
  | { readonly reason: "model_not_supported" }
  /** The store cannot say whether this session exists. */
  | { readonly reason: "unavailable"; readonly retryAfter: number }
  | { readonly reason: "provider"; readonly status: number | null; readonly type: string; readonly retryAfter?: number }
  /** The turn reached one of its agent's limits. */
  | {
      readonly reason: "limit";
      readonly limit: "steps" | "repeats" | "seconds" | "tokens" | "attempts" | "subrequests";
    }
  /** The owner has used up a quota, or sends more than `requests` may come; `retryAfter` in seconds. */
  | { readonly reason: "quota"; readonly quota: Quota; readonly retryAfter: number }
  /** The lease went to another isolate; nothing this one does counts any more. */
  | { readonly reason: "lost" }
  | { readonly reason: "internal" };

/** What an owner may use up. */
export type Quota = "turns" | "sessions" | "bytes" | "tokensPerDay" | "requests";

export type Failure = Reason & { readonly message: string; readonly detail?: string };

/** The one error that Holdfast throws on purpose. */
export class HoldfastError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.name = "HoldfastError";
    this.failure = failure;
  }
}

/** The failure that an unknown thrown thing amounts to. */
export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof HoldfastError) return thrown.failure;
  const detail = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return { reason: "internal", message: "Something went wrong inside the runtime.", detail };
}
