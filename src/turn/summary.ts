import type { CallRecord } from "../session/contract.ts";
import type { Failure } from "../values/errors.ts";
import { addUsage, type Usage } from "../values/usage.ts";
import type { Answer } from "./answer.ts";
import { askOnce } from "./ask-once.ts";
import { callRecord, type Sendable } from "./call-record.ts";
import type { Observe } from "./observation.ts";
import type { Model } from "./settings.ts";
import type { SummaryRequest } from "./summary-request.ts";

/** What a summary is asked with. */
export interface SummaryAsk {
  readonly model: Model;
  readonly call: Pick<CallRecord, "turn" | "step" | "chain">;
  readonly env: Cloudflare.Env;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly observe?: Observe | null | undefined;
}

/** What came of it: a text, or why there is none. `calls` are those made, the last one's answer being the text. */
export type Summary = { readonly calls: readonly CallRecord[]; readonly usage: Usage } & (
  | { readonly text: string }
  | { readonly text: null; readonly failure: Failure }
);

/** Asks for a summary. An answer that calls a tool instead is a failed attempt: it is asked once more and may call none. */
export async function summarise(ask: SummaryAsk, request: SummaryRequest): Promise<Summary> {
  const first = await attempt(ask, request.first);
  if (!first.called) return first.summary;
  const second = await attempt(ask, request.withoutCalls());
  return following(first.summary, second.summary);
}

/** What the second attempt came to, with what both took. */
export function following(first: Summary, second: Summary): Summary {
  return { ...second, calls: [...first.calls, ...second.calls], usage: addUsage(first.usage, second.usage) };
}

/** Has the provider itself compact what a request carries. `block` is null where it did something else, or nothing. */
export async function compactedByProvider(
  ask: SummaryAsk,
  request: Sendable,
): Promise<Pick<Summary, "calls" | "usage"> & { readonly block: string | null }> {
  const { answer, record, failure } = await send(ask, request);
  const compacted = failure === null && answer.stop === "end" ? answer.compacted : null;
  return { calls: [record], usage: answer.usage, block: compacted?.raw ?? null };
}

async function attempt(ask: SummaryAsk, request: Sendable): Promise<{ summary: Summary; called: boolean }> {
  const { answer, record, failure } = await send(ask, request);
  const done = { calls: [record], usage: answer.usage };
  const called = failure === null && answer.calls.length > 0;
  const text = answer.blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
  if (failure === null && !called && answer.stop === "end" && text.trim() !== "") {
    return { summary: { ...done, text: text.trim() }, called };
  }
  return { summary: { ...done, text: null, failure: failure ?? noSummary(answer) }, called };
}

/** Sends a request that is no link of a chain. */
async function send({ model, call, env, signal, now, observe }: SummaryAsk, request: Sendable) {
  const { answer, failure, startedAt, firstAt } = await askOnce(model, request.body, { env, signal }, now);
  const endedAt = now();
  const record = callRecord({ ...call, at: endedAt, model: model.full, purpose: "summary" }, request, answer, true);
  observe?.({
    ...{ type: "model", startedAt, firstAt, endedAt, provider: model.provider.name, model: model.name },
    ...{ record, failure },
  });
  return { answer, record, failure };
}

function noSummary({ stop, calls }: Answer): Failure {
  const why = calls.length > 0 ? "it called a tool" : `its answer ended by ${stop}`;
  return {
    reason: "provider",
    status: null,
    type: "no_summary",
    message: `The model gave no summary of the conversation: ${why}.`,
  };
}
