import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { sha256 } from "../../prefix/digest.ts";
import type { CallBlock } from "../../values/entry.ts";
import { NO_USAGE, type Usage } from "../../values/usage.ts";
import { brokeOff } from "../broke-off.ts";
import type { ModelEvent } from "../contract.ts";
import { wholeCharacters } from "../whole-characters.ts";
import { rawCall } from "./render.ts";

type Delta = ChatCompletionChunk["choices"][number]["delta"];
type CallDelta = NonNullable<Delta["tool_calls"]>[number];
type Stop = Extract<ModelEvent, { type: "stop" }>["stop"];

/** A call while its pieces come in. `more` is what the endpoint says beside what we know. */
interface Open {
  readonly index: number;
  readonly id: string;
  name: string;
  input: string;
  more: Record<string, unknown>;
}

/**
 * The SDK's chunks as events, for the request with this body. `named` says which tool a call is of. Throws when the
 * stream ends without a reason to. Fields that only some endpoints have are read where they are.
 */
export async function* readStream(
  chunks: AsyncIterable<ChatCompletionChunk>,
  body: string,
  named: (call: Pick<CallBlock, "name" | "input">) => Pick<CallBlock, "name" | "input">,
): AsyncGenerator<ModelEvent> {
  let begun = false;
  let text = "";
  let refusal = false;
  let usage: Usage = NO_USAGE;
  let reason: string | null = null;
  const calls: Open[] = [];
  for await (const chunk of chunks) {
    if (!begun) yield { type: "begun", id: chunk.id ?? "" };
    begun = true;
    if (chunk.usage) usage = usageOf(chunk.usage);
    const [choice] = chunk.choices ?? [];
    if (choice === undefined) continue;
    const { delta } = choice;
    const thought = thinkingOf(delta);
    if (thought !== "") yield { type: "thinking", text: thought };
    const said = `${delta?.content ?? ""}${delta?.refusal ?? ""}`;
    if (delta?.refusal) refusal = true;
    text += said;
    if (said !== "") yield { type: "text", text: said };
    for (const piece of delta?.tool_calls ?? []) take(calls, piece);
    reason = choice.finish_reason ?? reason;
  }
  if (reason === null) throw brokeOff("the stream ended before the answer did");
  // Half a surrogate pair is nothing that UTF-8 can carry, and APIs refuse it.
  if (text !== "") yield { type: "block", block: { type: "text", text: text.toWellFormed() } };
  const taken = new Set<string>();
  for (const call of calls) {
    const id = freshId(call, body, taken);
    taken.add(id);
    const input = wholeCharacters(call.input);
    const raw = rawCall(call.name, input, call.more);
    yield { type: "block", block: { type: "call", id, ...named({ name: call.name, input: input || "{}" }), raw } };
  }
  yield { type: "usage", usage };
  yield { type: "stop", stop: stopOf(reason, calls.length > 0, refusal) };
}

/** Adds a piece to its call. Some endpoints give all calls of an answer the same index, each with an id of its own. */
function take(calls: Open[], { index = 0, id, type: _, function: said, ...more }: CallDelta): void {
  const known = calls.findLast((call) => call.index === index);
  const call =
    known !== undefined && (!id || known.id === id || known.id === "")
      ? known
      : { index, id: id ?? "", name: "", input: "", more: {} };
  if (call !== known) calls.push(call);
  call.name ||= said?.name ?? "";
  call.input += said?.arguments ?? "";
  Object.assign(call.more, more);
}

/** The endpoint's id, or one that follows from the request where that has none or gives the same one again. */
function freshId({ id, index }: Open, body: string, taken: ReadonlySet<string>): string {
  if (id !== "" && !taken.has(id) && !body.includes(`"id":${JSON.stringify(id)}`)) return id;
  return `call_${sha256(`${taken.size} ${index} ${body}`).slice(0, 24)}`;
}

/** What the model thinks, as endpoints that show it call it. */
function thinkingOf(delta: Delta | undefined): string {
  const { reasoning_content: first, reasoning: second } = { reasoning_content: null, reasoning: null, ...delta };
  const thought: unknown = first ?? second;
  return typeof thought === "string" ? thought : "";
}

function stopOf(reason: string, calls: boolean, refusal: boolean): Stop {
  if (reason === "length") return "length";
  if (reason === "content_filter" || refusal) return "refusal";
  return calls ? "calls" : "end";
}

/** Gross accounting, as OpenAI's; some endpoints count what they read from the cache in a field of their own. */
function usageOf(given: NonNullable<ChatCompletionChunk["usage"]>): Usage {
  const { prompt_cache_hit_tokens: hit } = { prompt_cache_hit_tokens: 0, ...given };
  const cacheRead = given.prompt_tokens_details?.cached_tokens ?? hit;
  const cacheWrite = given.prompt_tokens_details?.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, (given.prompt_tokens ?? 0) - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: given.completion_tokens ?? 0,
  };
}
