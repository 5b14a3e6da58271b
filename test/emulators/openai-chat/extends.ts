import type { Layout } from "../common/layout.ts";
import { sourceOf } from "./source.ts";

/** Fields that may differ between two requests of one epoch: they are no part of what is cached. */
const PER_REQUEST = new Set([
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "n",
  "stop",
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "seed",
  "stream",
  "stream_options",
  "metadata",
  "safety_identifier",
  "service_tier",
  "user",
  "store",
]);

/** Lays out a request from its body's text. System messages are messages here. */
export function bodyLayout(body: string): Layout {
  const { fields, tools, messages } = sourceOf(body);
  return {
    settings: [...fields].flatMap(([key, text]) => (PER_REQUEST.has(key) ? [] : [`${key}=${text}`])),
    inline: tools,
    system: [],
    deferred: [],
    blocks: messages,
  };
}
