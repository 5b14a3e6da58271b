import type { Stop } from "../../values/entry.ts";
import { inputTokens, type Usage } from "../../values/usage.ts";
import type { Delta } from "./view.ts";

/** What all chunks of one answer have in common. `created` in seconds since the epoch. */
export interface Head {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export type FinishReason = "stop" | "length" | "content_filter";

/** Why the answer ends, in the words of the protocol. Tools ran here, so it is never `tool_calls`. */
export function finishReason(stop: Stop): FinishReason {
  switch (stop) {
    case "end":
    case "calls":
    case "paused":
    case "stopped":
      return "stop";
    case "length":
    case "cut":
      return "length";
    case "refusal":
      return "content_filter";
  }
}

export function wireUsage(usage: Usage) {
  const prompt = inputTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
  };
}

export function roleChunk(head: Head) {
  return chunk(head, { role: "assistant", content: "" }, null);
}

export function deltaChunk(head: Head, delta: Delta) {
  return chunk(head, delta.kind === "content" ? { content: delta.text } : { reasoning_content: delta.text }, null);
}

export function finishChunk(head: Head, stop: Stop) {
  return chunk(head, {}, finishReason(stop));
}

/** `choices` must be there: the openai client iterates over it in every chunk. */
export function usageChunk(head: Head, usage: Usage) {
  return { ...envelope(head, "chat.completion.chunk"), choices: [], usage: wireUsage(usage) };
}

export function completion(
  head: Head,
  answer: { readonly content: string; readonly reasoning: string; readonly stop: Stop; readonly usage: Usage },
) {
  const { content, reasoning, stop, usage } = answer;
  const message = { role: "assistant", content, refusal: null, ...(reasoning && { reasoning_content: reasoning }) };
  return {
    ...envelope(head, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finishReason(stop), logprobs: null }],
    usage: wireUsage(usage),
  };
}

function chunk(head: Head, delta: Readonly<Record<string, string>>, finish: FinishReason | null) {
  return {
    ...envelope(head, "chat.completion.chunk"),
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

function envelope({ id, created, model }: Head, object: string) {
  return { id, object, created, model };
}
