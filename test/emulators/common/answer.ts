import type { Exchange } from "./exchange.ts";
import type { Parking } from "./parking.ts";

/** A place in an answer: before its headers, or after that many events of its stream (`ping` counts). */
export type Point = "headers" | number;

/** What happens to the connection on the way. */
export type Steering =
  | { readonly kind: "destroy"; readonly at: Point }
  | { readonly kind: "park"; readonly at: Point; readonly parking: Parking<Exchange> };

/** What every emulator can be told to answer. */
export type SharedPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly json: string;
      readonly id?: string;
      readonly unseen: boolean;
    }
  | { readonly kind: "stop"; readonly reason: "max_tokens" }
  | Steering;

/** An answer: one part, or parts in order, nested as is convenient. */
export type AnswerOf<P> = P | readonly AnswerOf<P>[];

/** The parts of an answer, in order. */
export function flatten<P extends { readonly kind: string }>(answer: AnswerOf<P>): P[] {
  return isPart(answer) ? [answer] : answer.flatMap((part) => flatten(part));
}

function isPart<P extends { readonly kind: string }>(answer: AnswerOf<P>): answer is P {
  return "kind" in answer;
}

/** A text. */
export function say(text: string): SharedPart {
  return { kind: "text", text };
}

/** Thinking, signed or encrypted by the emulator as the provider does. */
export function think(text: string): SharedPart {
  return { kind: "thinking", text };
}

/**
 * A tool call. `input` is an object, or the JSON text to send as it is, valid or not. Without `id` one is minted.
 * Calling a tool that the request does not make visible is an error of the script: see `Emulator.problems`.
 */
export function call(name: string, input: object | string = {}, id?: string): SharedPart {
  const part = { kind: "call", name, json: jsonText(input), unseen: false } as const;
  return id === undefined ? part : { ...part, id };
}

/** A call as from a model that invents names: visibility is not checked. */
export function callUnseen(name: string, input: object | string = {}, id?: string): SharedPart {
  const part = { kind: "call", name, json: jsonText(input), unseen: true } as const;
  return id === undefined ? part : { ...part, id };
}

function jsonText(input: object | string): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

/** An answer that hit its limit of tokens in its last part: a text in mid-word, or a call with cut JSON text. */
export function cut(...parts: readonly (AnswerOf<SharedPart> | string)[]): AnswerOf<SharedPart> {
  return [
    ...parts.map((part) => (typeof part === "string" ? say(part) : part)),
    { kind: "stop", reason: "max_tokens" },
  ];
}

/** The connection is destroyed before the headers, or after `at` events. */
export function destroyAt(at: Point): SharedPart {
  return { kind: "destroy", at };
}

/** The answer waits at `at` until `parking.release()`, or until the client is gone. */
export function parkAt(at: Point, parking: Parking<Exchange>): SharedPart {
  return { kind: "park", at, parking };
}
