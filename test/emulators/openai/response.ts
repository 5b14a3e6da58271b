import type { PromptUsage } from "./cache.ts";
import type { Compiled } from "./compile.ts";
import { echoTools } from "./echo.ts";
import type { AcceptedRequest } from "./examine.ts";
import type { WireEvent } from "./spell-part.ts";

/** What surrounds the items of an answer. */
export interface Envelope {
  readonly id: string;
  /** In seconds. */
  readonly createdAt: number;
  readonly request: AcceptedRequest;
  readonly usage: PromptUsage;
}

/** The whole answer. */
export function wholeResponse(envelope: Envelope, compiled: Compiled): object {
  const { ending, output } = compiled;
  return {
    ...shell(envelope),
    status: ending.status,
    error: ending.status === "failed" ? { code: ending.code, message: ending.message } : null,
    incomplete_details: ending.status === "incomplete" ? { reason: ending.reason } : null,
    output,
    usage: ending.status === "failed" ? null : usageOf(envelope, compiled),
  };
}

/** The answer as events, numbered from 0: from `response.created` to the one that says how it ended. */
export function responseEvents(envelope: Envelope, compiled: Compiled): WireEvent[] {
  const begun = { ...shell(envelope), status: "in_progress", error: null, incomplete_details: null };
  const response = { ...begun, output: [], usage: null };
  const obfuscated = envelope.request.body.stream_options?.include_obfuscation !== false;
  return [
    { type: "response.created", response },
    { type: "response.in_progress", response },
    ...compiled.events,
    { type: `response.${compiled.ending.status}`, response: wholeResponse(envelope, compiled) },
  ].map((event, sequence_number) => ({
    ...event,
    sequence_number,
    ...(obfuscated && "delta" in event ? { obfuscation: "x".repeat((sequence_number * 7) % 13) } : {}),
  }));
}

/** One record of a stream. */
export function spellEvent(event: WireEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function shell({ id, createdAt, request }: Envelope): object {
  const { body } = request;
  return {
    id,
    object: "response",
    created_at: createdAt,
    background: false,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    model: body.model,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    prompt_cache_retention: body.prompt_cache_retention ?? null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: "default",
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: body.text?.format ?? { type: "text" }, verbosity: body.text?.verbosity ?? "medium" },
    tool_choice: body.tool_choice ?? "auto",
    tools: echoTools(request),
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    user: body.user ?? null,
    metadata: body.metadata ?? {},
  };
}

/** Each search of the server is a sampling pass of its own, and `input_tokens` is the sum over the passes. */
function usageOf({ usage }: Envelope, { outputTokens, reasoningTokens, passes }: Compiled): object {
  const input = passes.reduce((sum, output) => sum + usage.input_tokens + output, usage.input_tokens);
  const output = outputTokens + reasoningTokens;
  return {
    input_tokens: input,
    input_tokens_details: usage.input_tokens_details,
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: input + output,
  };
}
