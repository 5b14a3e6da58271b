import { sha256 } from "../../prefix/digest.ts";
import { HoldfastError } from "../../values/errors.ts";
import type { ModelEvent, ProviderDeps } from "../contract.ts";
import { nextReply } from "./script.ts";
import { readBody, type View } from "./view.ts";

const BYTES_A_TOKEN = 4;

/** Answers a body by the script, in pieces of a word. No network, no clock, no chance: one body, one answer. */
export async function* stream(
  model: string,
  body: string,
  deps: Pick<ProviderDeps, "signal">,
): AsyncGenerator<ModelEvent> {
  if (model !== "scripted") {
    const message = `The provider demo has no model ${model}; it has demo/scripted.`;
    throw new HoldfastError({ reason: "provider", status: 404, type: "not_found_error", message });
  }
  const view = readBody(body);
  const reply = nextReply(view);
  const { text, whole } = fitted(reply.text, view);
  // The whole history is in the body, so no two requests of a session share an id.
  const id = sha256(body).slice(0, 20);
  yield { type: "begun", id: `demo_${id}` };
  for (const piece of text.match(/\s*\S+\s*/g) ?? []) {
    deps.signal.throwIfAborted();
    yield { type: "text", text: piece };
  }
  deps.signal.throwIfAborted();
  if (text !== "") yield { type: "block", block: { type: "text", text } };
  const call = whole ? reply.call : null;
  const input = call === null ? "" : JSON.stringify(call.input);
  if (call !== null) yield { type: "block", block: { type: "call", id: `call_${id}`, name: call.name, input } };
  const output = tokens(text) + tokens(input);
  yield { type: "usage", usage: { input: tokens(body), cacheRead: 0, cacheWrite: 0, output } };
  yield { type: "stop", stop: !whole ? "length" : call === null ? "end" : "calls" };
}

/** The text as far as the request lets it go: up to a stop sequence, and not above the number of tokens. */
function fitted(text: string, { stop, maxOutputTokens }: View): { text: string; whole: boolean } {
  const ends = stop.filter((end) => end !== "").map((end) => text.indexOf(end));
  const end = Math.min(text.length, ...ends.filter((at) => at >= 0));
  const bytes = new TextEncoder().encode(text.slice(0, end));
  const most = maxOutputTokens * BYTES_A_TOKEN;
  if (bytes.length <= most) return { text: text.slice(0, end), whole: true };
  return { text: new TextDecoder().decode(bytes.slice(0, most)).replace(/\uFFFD$/, ""), whole: false };
}

/** Tokens by length: there is no tokenizer to ask. */
function tokens(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / BYTES_A_TOKEN);
}
