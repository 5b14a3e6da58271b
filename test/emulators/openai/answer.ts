import type { AnswerOf, SharedPart } from "../common/answer.ts";

/** A failure that is answered instead of a response. */
export interface HttpFailure {
  readonly kind: "http";
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The codes of a response that failed (`response.error.code`), as far as they matter here. */
export type FailedCode = "server_error" | "rate_limit_exceeded" | "invalid_prompt";

/**
 * How an error stands in a stream: its fields beside its type, as documented; under `error`, as seen on the wire; or as
 * documented in a record without an `event:` line, which the official client hands out instead of throwing it.
 */
export type ErrorForm = "flat" | "nested" | "unnamed";

/** What one answer is made of. Made by the builders below and by the shared ones. */
export type Part =
  | SharedPart
  | { readonly kind: "search"; readonly paths: readonly string[]; readonly found: readonly string[] }
  | { readonly kind: "compaction"; readonly text: string }
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "filtered" }
  | { readonly kind: "failed"; readonly code: FailedCode; readonly message: string }
  | {
      readonly kind: "error";
      readonly at: number;
      readonly form: ErrorForm;
      readonly code: string;
      readonly message: string;
    }
  | HttpFailure;

/** An answer: one part, or parts in order, nested as is convenient. */
export type Answer = AnswerOf<Part>;

/** A search by the server with what it found. What it found can be called later in the same answer. */
export function search(paths: readonly string[], found: readonly string[]): Part {
  return { kind: "search", paths, found };
}

/** What the server made of the conversation, which only it can read. The whole answer to a `compaction_trigger`. */
export function compact(text = "What was said so far."): Part {
  return { kind: "compaction", text };
}

/** The model refuses: a message whose part is a refusal. */
export function refuse(text = "I can't help with that."): Part {
  return { kind: "refusal", text };
}

/** The content filter ends the answer after what stands before it (`response.incomplete`). */
export function filtered(): Part {
  return { kind: "filtered" };
}

/** The response fails after what stands before it (`response.failed`). */
export function failed(code: FailedCode = "server_error", message = "The model failed to generate a response."): Part {
  return { kind: "failed", code, message };
}

/** An error record in the stream after `at` events, then the end. */
export function errorAt(
  at: number,
  form: ErrorForm = "flat",
  code = "server_error",
  message = "The server had an error while processing your request. Sorry about that!",
): Part {
  return { kind: "error", at, form, code, message };
}
