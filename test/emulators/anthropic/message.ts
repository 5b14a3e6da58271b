import type { PromptUsage } from "./cache.ts";
import type { Compiled, WireEvent } from "./compile.ts";
import type { CacheMissReason } from "./diagnostics.ts";

/** What surrounds the content of an answer. */
export interface Envelope {
  readonly id: string;
  /** As the request named it. */
  readonly model: string;
  readonly usage: PromptUsage;
  /** Absent unless the request asked; null where it departs from nothing. */
  readonly diagnostics?: { readonly cache_miss_reason: CacheMissReason } | null;
  readonly droppedThinking: readonly string[];
}

/** The whole answer. */
export function wholeMessage(envelope: Envelope, compiled: Compiled): object {
  return {
    ...shell(envelope),
    content: compiled.content,
    stop_reason: compiled.stopReason,
    stop_details: compiled.stopDetails,
    usage: { ...startUsage(envelope), ...endUsage(envelope, compiled) },
  };
}

/** The answer as events, from `message_start` to `message_stop`. */
export function messageEvents(envelope: Envelope, compiled: Compiled): WireEvent[] {
  const { stopReason, stopDetails } = compiled;
  return [
    { type: "message_start", message: { ...shell(envelope), usage: startUsage(envelope) } },
    ...compiled.events,
    {
      type: "message_delta",
      delta: { stop_reason: stopReason, stop_sequence: null, stop_details: stopDetails },
      usage: endUsage(envelope, compiled),
    },
    { type: "message_stop" },
  ];
}

function shell({ id, model, diagnostics, droppedThinking }: Envelope): object {
  return {
    model,
    id,
    type: "message",
    role: "assistant",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    ...(diagnostics === undefined ? {} : { diagnostics }),
    ...(droppedThinking.length === 0
      ? {}
      : {
          input_transformations: droppedThinking.map((path) => ({
            type: "thinking_dropped",
            path,
            reason: "prefix_binding_mismatch",
          })),
        }),
  };
}

function startUsage({ usage }: Envelope): object {
  return { ...usage, output_tokens: 1, service_tier: "standard", inference_geo: "not_available" };
}

/** Each search of the server is a sampling pass of its own, and `input_tokens` is the sum over the passes. */
function endUsage({ usage }: Envelope, { outputTokens, passes }: Compiled): object {
  const counts = {
    input_tokens: passes.reduce((sum, output) => sum + usage.input_tokens + output, usage.input_tokens),
    cache_creation_input_tokens: usage.cache_creation_input_tokens,
    cache_read_input_tokens: usage.cache_read_input_tokens,
    output_tokens: outputTokens,
  };
  return passes.length === 0
    ? counts
    : { ...counts, server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 } };
}
