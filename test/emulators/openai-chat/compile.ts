import { fragments } from "../common/fragments.ts";
import type { PromptUsage } from "../openai/cache.ts";
import type { Part } from "./answer.ts";
import type { AcceptedRequest } from "./examine.ts";

const TEXT_SIZES = [3, 2, 7, 1, 12, 5];
const JSON_SIZES = [4, 3, 9, 1, 6, 14];

/** An answer as the API spells it: whole, and as what each chunk adds. */
export interface Compiled {
  readonly message: Readonly<Record<string, unknown>>;
  readonly deltas: readonly object[];
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter";
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** Spells out an answer. Throws if it calls a tool that is not there: then the test's script is wrong. */
export function compile(
  parts: readonly Part[],
  visible: readonly string[],
  mint: (prefix: string) => string,
): Compiled {
  const calls: object[] = [];
  const deltas: object[] = [];
  let [content, refusal, reasoning] = ["", "", ""];
  let finish: Compiled["finish"] | null = null;
  for (const part of parts) {
    switch (part.kind) {
      case "text":
        content += part.text;
        deltas.push(...fragments(part.text, TEXT_SIZES).map((piece) => ({ content: piece })));
        break;
      case "refusal":
        refusal += part.text;
        deltas.push(...fragments(part.text, TEXT_SIZES).map((piece) => ({ refusal: piece })));
        break;
      case "thinking":
        reasoning += part.text;
        deltas.push(...fragments(part.text, TEXT_SIZES).map((piece) => ({ reasoning_content: piece })));
        break;
      case "call": {
        if (!part.unseen && !visible.includes(part.name)) {
          throw new Error(
            `The script calls '${part.name}', which this request does not make visible. Visible: ${visible.join(", ")}`,
          );
        }
        const index = calls.length;
        const head = { id: part.id ?? mint("call_"), type: "function" };
        calls.push({ ...head, function: { name: part.name, arguments: part.json } });
        deltas.push({ tool_calls: [{ index, ...head, function: { name: part.name, arguments: "" } }] });
        for (const piece of fragments(part.json, JSON_SIZES)) {
          deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
        }
        break;
      }
      case "stop":
        finish = "length";
        break;
      case "filtered":
        finish = "content_filter";
        break;
      case "error":
      case "destroy":
      case "park":
      case "http":
    }
  }
  const message = {
    role: "assistant",
    content: content === "" ? null : content,
    refusal: refusal === "" ? null : refusal,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    annotations: [],
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    message,
    deltas,
    finish: finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
    outputTokens: Math.max(1, Math.ceil(JSON.stringify(message).length / 4)),
    reasoningTokens: Math.ceil(reasoning.length / 4),
  };
}

/** What surrounds the content of an answer. */
export interface Envelope {
  readonly id: string;
  /** In seconds. */
  readonly created: number;
  readonly request: AcceptedRequest;
  readonly usage: PromptUsage;
}

/** The whole answer. */
export function wholeCompletion(envelope: Envelope, compiled: Compiled): object {
  const { message, finish } = compiled;
  return {
    ...shell(envelope, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: usageOf(envelope, compiled),
  };
}

/** The answer as the chunks of a stream. The last one tells the usage, if the request asked for it. */
export function chunks(envelope: Envelope, compiled: Compiled): object[] {
  const { stream_options: options } = envelope.request.body;
  const counted = options?.include_usage === true;
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...shell(envelope, "chat.completion.chunk"),
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(counted ? { usage: null } : {}),
  });
  const begin = chunk(
    { role: "assistant", content: compiled.message.content === null ? null : "", refusal: null },
    null,
  );
  const end = { ...shell(envelope, "chat.completion.chunk"), choices: [], usage: usageOf(envelope, compiled) };
  return [
    begin,
    ...compiled.deltas.map((delta) => chunk(delta, null)),
    chunk({}, compiled.finish),
    ...(counted ? [end] : []),
  ];
}

/** One record of a stream. */
export function spellChunk(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function shell({ id, created, request }: Envelope, object: string): object {
  return { id, object, created, model: request.body.model, service_tier: "default", system_fingerprint: null };
}

function usageOf({ usage }: Envelope, { outputTokens, reasoningTokens }: Compiled): object {
  const completion = outputTokens + reasoningTokens;
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: completion,
    total_tokens: usage.input_tokens + completion,
    prompt_tokens_details: { cached_tokens: usage.input_tokens_details.cached_tokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
