import type { AnswerOf, SharedPart } from "../common/answer.ts";
import type { HttpFailure } from "../openai/answer.ts";

/** What one answer is made of. Made by the builders below and by the shared ones. */
export type Part =
  | SharedPart
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "filtered" }
  | { readonly kind: "error"; readonly at: number; readonly code: string; readonly message: string }
  | HttpFailure;

/** An answer: one part, or parts in order, nested as is convenient. */
export type Answer = AnswerOf<Part>;

/** The model refuses: `refusal` instead of `content`. */
export function refuse(text = "I can't help with that."): Part {
  return { kind: "refusal", text };
}

/** The content filter ends the answer after what stands before it. */
export function filtered(): Part {
  return { kind: "filtered" };
}

/** An error record in the stream after `at` chunks, then the end. */
export function errorAt(
  at: number,
  code = "server_error",
  message = "The server had an error while processing your request. Sorry about that!",
): Part {
  return { kind: "error", at, code, message };
}
