import type { Parking } from "../common/parking.ts";
import type { ErrorType } from "./failure.ts";
import type { RecordedRequest } from "./record.ts";

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

/** A place in an answer: before its headers, or after that many events of its stream (`ping` counts). */
export type Point = "headers" | number;

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
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | { readonly kind: "redacted"; readonly data: string }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly json: string;
      readonly id?: string;
      readonly unseen: boolean;
    }
  | { readonly kind: "search"; readonly tool: string; readonly query: string; readonly found: readonly string[] }
  | { readonly kind: "server_call"; readonly name: string; readonly json: string }
  | { readonly kind: "compaction"; readonly content: string | null }
  | { readonly kind: "stop"; readonly reason: StopReason }
  | { readonly kind: "refusal"; readonly category: RefusalCategory | null; readonly explanation: string | null }
  | { readonly kind: "error"; readonly at: number; readonly type: ErrorType; readonly message: string }
  | { readonly kind: "destroy"; readonly at: Point }
  | { readonly kind: "park"; readonly at: Point; readonly parking: Parking<RecordedRequest> }
  | HttpFailure;

/** An answer: one part, or parts in order, nested as is convenient. */
export type Answer = Part | readonly Answer[];

/** A text block. */
export function say(text: string): Part {
  return { kind: "text", text };
}

/** A thinking block, signed by the emulator. */
export function think(text: string): Part {
  return { kind: "thinking", text };
}

/** A thinking block that only the provider can read. */
export function redacted(data: string): Part {
  return { kind: "redacted", data };
}

/**
 * A tool call. `input` is an object, or the JSON text to send as it is, valid or not. Without `id` one is minted.
 * Calling a tool that the request does not make visible is an error of the script: see `Emulator.problems`.
 */
export function call(name: string, input: object | string = {}, id?: string): Part {
  const part = { kind: "call", name, json: jsonText(input), unseen: false } as const;
  return id === undefined ? part : { ...part, id };
}

/** A call as from a model that invents names: visibility is not checked. */
export function callUnseen(name: string, input: object | string = {}, id?: string): Part {
  const part = { kind: "call", name, json: jsonText(input), unseen: true } as const;
  return id === undefined ? part : { ...part, id };
}

function jsonText(input: object | string): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

/** A search by the server with what it found. What it found can be called later in the same answer. */
export function search(query: string, found: readonly string[], tool = "tool_search_tool_bm25"): Part {
  return { kind: "search", tool, query, found };
}

/** A call of a server's tool whose result is not there yet. Put `pause()` behind it. */
export function serverCall(name: string, input: object | string = {}): Part {
  return { kind: "server_call", name, json: jsonText(input) };
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

/** An answer that hit `max_tokens` in its last part: a text in mid-word, or a call with cut JSON text. */
export function cut(...parts: readonly (Answer | string)[]): Answer {
  return [...parts.map((part) => (typeof part === "string" ? say(part) : part)), stop("max_tokens")];
}

/** The server paused a long turn: the client sends it back as it is. */
export function pause(): Part {
  return stop("pause_turn");
}

/** An error record in the stream after `at` events, then the end. */
export function errorAt(at: number, type: ErrorType = "overloaded_error", message = "Overloaded"): Part {
  return { kind: "error", at, type, message };
}

/** The connection is destroyed before the headers, or after `at` events. */
export function destroyAt(at: Point): Part {
  return { kind: "destroy", at };
}

/** The answer waits at `at` until `parking.release()`, or until the client is gone. */
export function parkAt(at: Point, parking: Parking<RecordedRequest>): Part {
  return { kind: "park", at, parking };
}
