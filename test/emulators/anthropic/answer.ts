import type { AnswerOf, SharedPart } from "../common/answer.ts";
import type { ErrorType } from "./failure.ts";

/** Why the model stopped. */
export type StopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "pause_turn"
  | "refusal"
  | "compaction"
  | "model_context_window_exceeded";

/** Why a request was refused by the model. */
export type RefusalCategory = "cyber" | "bio" | "frontier_llm" | "reasoning_extraction" | "general_harms";

/** A failure that is answered instead of a message. */
export interface HttpFailure {
  readonly kind: "http";
  readonly status: number;
  readonly type: ErrorType;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What one answer is made of. Made by the builders below. */
export type Part =
  | SharedPart
  | { readonly kind: "redacted"; readonly data: string }
  | { readonly kind: "search"; readonly tool: string; readonly query: string; readonly found: readonly string[] }
  | { readonly kind: "server_call"; readonly name: string; readonly json: string }
  | { readonly kind: "compaction"; readonly content: string | null }
  | { readonly kind: "stop"; readonly reason: StopReason }
  | { readonly kind: "refusal"; readonly category: RefusalCategory | null; readonly explanation: string | null }
  | { readonly kind: "error"; readonly at: number; readonly type: ErrorType; readonly message: string }
  | HttpFailure;

/** An answer: one part, or parts in order, nested as is convenient. */
export type Answer = AnswerOf<Part>;

/** A thinking block that only the provider can read. */
export function redacted(data: string): Part {
  return { kind: "redacted", data };
}

/** A search by the server with what it found. What it found can be called later in the same answer. */
export function search(query: string, found: readonly string[], tool = "tool_search_tool_bm25"): Part {
  return { kind: "search", tool, query, found };
}

/** A call of a server's tool whose result is not there yet. Put `pause()` behind it. */
export function serverCall(name: string, input: object | string = {}): Part {
  return { kind: "server_call", name, json: typeof input === "string" ? input : JSON.stringify(input) };
}

/** A compaction block; `null` is one that failed. */
export function compact(content: string | null): Part {
  return { kind: "compaction", content };
}

/** Ends the answer with this reason. Without it the reason is `tool_use` after a call, else `end_turn`. */
export function stop(reason: StopReason): Part {
  return { kind: "stop", reason };
}

/** The model refuses, after what stands before it. */
export function refuse(category: RefusalCategory | null = null, explanation: string | null = null): Part {
  return { kind: "refusal", category, explanation };
}

/** The server paused a long turn: the client sends it back as it is. */
export function pause(): Part {
  return stop("pause_turn");
}

/** An error record in the stream after `at` events, then the end. */
export function errorAt(at: number, type: ErrorType = "overloaded_error", message = "Overloaded"): Part {
  return { kind: "error", at, type, message };
}
