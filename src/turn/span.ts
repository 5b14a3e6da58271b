import { verdictText } from "../values/turn-event.ts";
import { inputTokens } from "../values/usage.ts";
import type { Observation } from "./observation.ts";
import type { TurnRequest } from "./runtime.ts";

/** A finished span in OpenTelemetry's terms. Its attributes never hold what was said, by whomever. */
export interface Span {
  /** 32 and 16 hex digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  /** Flags of the trace as in `traceparent`; the lowest bit says that the caller sampled it. */
  readonly traceFlags: number;
  readonly name: string;
  readonly kind: "internal" | "client";
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  readonly endTime: number;
  /** Names of OpenTelemetry's conventions for generative AI, and ours under `holdfast.`. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly status: { readonly code: "unset" | "error" };
}

/** Where a turn's spans belong: `spanId` is the turn's own, the parent of its calls'. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly traceFlags: number;
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Goes on with the caller's trace (W3C Trace Context, `traceparent`), or begins one where there is none that is valid. */
export function traceContext(traceparent: string | null, hex: (bytes: number) => string): TraceContext {
  const [, version, traceId, parentSpanId, flags, more] = TRACEPARENT.exec(traceparent?.trim() ?? "") ?? [];
  const valid = version !== undefined && !(version === "00" && more !== undefined);
  if (!valid || traceId === undefined || parentSpanId === undefined || flags === undefined) {
    return { traceId: hex(16), spanId: hex(8), parentSpanId: null, traceFlags: 1 };
  }
  return { traceId, spanId: hex(8), parentSpanId, traceFlags: Number.parseInt(flags, 16) };
}

/** The span of something that is over. `spanId` is the one it gets if it is not the turn itself. */
export function spanOf(
  trace: TraceContext,
  { agent, conversation }: Pick<TurnRequest, "agent" | "conversation">,
  observed: Observation,
  spanId: string,
): Span {
  const { traceId, traceFlags } = trace;
  const common = {
    ...{ traceId, spanId, parentSpanId: trace.spanId, traceFlags },
    ...{ startTime: observed.startedAt, endTime: observed.endedAt },
  };
  const session = { "gen_ai.agent.name": agent.name, "gen_ai.conversation.id": conversation.id };
  switch (observed.type) {
    case "turn": {
      const { usage, failure } = observed;
      return {
        ...{ ...common, spanId: trace.spanId, parentSpanId: trace.parentSpanId },
        name: `invoke_agent ${agent.name}`,
        kind: "internal",
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          ...session,
          ...usageAttributes(usage),
          "holdfast.turn": observed.turn,
          "holdfast.status": observed.status,
          ...errorType(failure?.reason),
        },
        status: statusOf(failure?.reason),
      };
    }
    case "model": {
      const { record, provider, model, failure, firstAt, startedAt } = observed;
      return {
        ...common,
        name: `chat ${model}`,
        kind: "client",
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": provider,
          "gen_ai.request.model": model,
          "gen_ai.request.stream": true,
          ...session,
          ...usageAttributes(record.usage),
          ...(firstAt === null ? {} : { "gen_ai.response.time_to_first_chunk": (firstAt - startedAt) / 1000 }),
          "holdfast.prefix": verdictText(record.verdict),
          ...(record.place === null ? {} : { "holdfast.place": record.place }),
          "holdfast.turn": record.turn,
          "holdfast.step": record.step,
          "holdfast.epoch": record.epoch,
          ...errorType(failure?.reason === "provider" ? failure.type : failure?.reason),
        },
        status: statusOf(failure?.reason),
      };
    }
    case "tool": {
      const failed = observed.status === "ok" ? undefined : observed.status;
      return {
        ...common,
        name: `execute_tool ${observed.name}`,
        kind: "internal",
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": observed.name,
          "gen_ai.tool.call.id": observed.call,
          "gen_ai.tool.type": "function",
          ...session,
          ...errorType(failed),
        },
        status: statusOf(failed),
      };
    }
  }
}

/** The convention counts what was read from and written to the cache as input too. */
function usageAttributes(usage: Parameters<typeof inputTokens>[0]) {
  return {
    "gen_ai.usage.input_tokens": inputTokens(usage),
    "gen_ai.usage.output_tokens": usage.output,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheRead,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite,
  };
}

function errorType(type: string | undefined): { readonly "error.type"?: string } {
  return type === undefined ? {} : { "error.type": type };
}

function statusOf(problem: string | undefined): Span["status"] {
  return { code: problem === undefined ? "unset" : "error" };
}
