import { type LedgerRow, ledgerRow } from "../session/ledger-row.ts";
import type { Observation, Observe } from "./observation.ts";
import type { TurnRequest } from "./runtime.ts";
import { type Span, spanOf, traceContext } from "./span.ts";

/** A model call as metrics are told of it: its row of the ledger, whose it was, and how long it took. */
export interface ModelCall extends LedgerRow {
  readonly agent: string;
  /** The owner's id. */
  readonly owner: string;
  readonly conversation: string;
  /** Milliseconds from the request to the answer's first byte (null where none came) and to its end. */
  readonly ms: { readonly firstByte: number | null; readonly whole: number };
}

/** What a hook may use. Whatever it promises is waited for after the turn, not by it. */
export interface HookContext {
  readonly env: Cloudflare.Env;
  readonly ctx: Pick<ExecutionContext, "waitUntil">;
}

export interface Hooks {
  /** Told of each model call once it is over, answered or not. */
  readonly onModelCall?: ((call: ModelCall, context: HookContext) => unknown) | undefined;
  /** Told of each turn, model call and tool call once it is over. */
  readonly trace?: ((span: Span, context: HookContext) => unknown) | undefined;
}

/** What tells the hooks of one turn. A hook that fails is logged and does no harm. */
export function observer(
  { onModelCall, trace }: Hooks,
  context: HookContext,
  request: TurnRequest,
  hex: (bytes: number) => string,
  log: (event: string, fields: Record<string, unknown>) => void,
): Observe {
  const within = traceContext(request.traceparent ?? null, hex);
  const tell = (hook: string, work: () => unknown) => {
    const failed = (error: unknown) => {
      log("hook failed", { level: "warn", hook, error: error instanceof Error ? error.message : String(error) });
    };
    context.ctx.waitUntil(Promise.resolve().then(work).catch(failed));
  };
  return function observe(observed) {
    if (trace !== undefined) tell("trace", () => trace(spanOf(within, request, observed, hex(8)), context));
    if (onModelCall !== undefined && observed.type === "model") {
      tell("onModelCall", () => onModelCall(modelCall(request, observed), context));
    }
  };
}

function modelCall(
  { agent, owner, conversation }: TurnRequest,
  { record, startedAt, firstAt, endedAt }: Extract<Observation, { type: "model" }>,
): ModelCall {
  return {
    ...ledgerRow(record),
    ...{ agent: agent.name, owner: owner.id, conversation: conversation.id },
    ms: { firstByte: firstAt === null ? null : firstAt - startedAt, whole: endedAt - startedAt },
  };
}
