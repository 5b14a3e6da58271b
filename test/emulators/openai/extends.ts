import type { Layout } from "../common/layout.ts";
import { sourceOf } from "./source.ts";

/** Fields that may differ between two requests of one epoch: they are no part of what is cached. */
const PER_REQUEST = new Set([
  "max_output_tokens",
  "max_tool_calls",
  "temperature",
  "top_p",
  "top_logprobs",
  "stream",
  "stream_options",
  "metadata",
  "safety_identifier",
  "service_tier",
  "user",
  "store",
  "include",
  "truncation",
  "tool_choice",
]);

/** Lays out a request from its body's text. What is deferred is listed in front, so it counts as any other tool. */
export function bodyLayout(body: string): Layout {
  const { fields, tools, instructions, items } = sourceOf(body);
  return {
    settings: [...fields].flatMap(([key, text]) => (PER_REQUEST.has(key) ? [] : [`${key}=${text}`])),
    inline: tools,
    system: instructions === "" ? [] : [instructions],
    deferred: [],
    blocks: items,
  };
}
