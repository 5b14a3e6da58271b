import type { Catalog } from "../catalog/catalog.ts";
import { gate } from "../catalog/permission.ts";
import { searchTools } from "../catalog/search.ts";
import type { Tool, ToolContext } from "../define/types.ts";
import { fetchWithin } from "../egress/fetch-within.ts";
import type { BlobRow } from "../session/contract.ts";
import type { CallBlock, Status, ToolResult } from "../values/entry.ts";
import { ModeSwitch } from "../values/mode-switch.ts";
import { Ask, type Asked } from "../values/pause.ts";
import { SEARCH_TOOL } from "../values/tool.ts";
import type { TurnEventBody } from "../values/turn-event.ts";
import { ask } from "./ask.ts";
import { limitResult, shareOf } from "./limit-result.ts";
import { CONCURRENT_CALLS } from "./limits.ts";
import type { Observe } from "./observation.ts";
import { toolOutput } from "./tool-output.ts";

/** What a batch of calls is run with. */
export interface Batch {
  readonly catalog: Catalog<Tool>;
  readonly active: ReadonlySet<string>;
  readonly declared: ReadonlySet<string>;
  readonly allowDestructive: boolean;
  readonly context: Omit<ToolContext, "callId" | "signal" | "progress" | "ask">;
  /** Aborts when the turn is cancelled or has lost its lease: what runs is interrupted, what waits does not start. */
  readonly signal: AbortSignal;
  /** Aborts `signal` if the lease may be gone: asked before each call, for no tool starts on a stale one. */
  readonly checkLease: () => void;
  readonly emit: (event: TurnEventBody) => void;
  readonly observe: Observe;
  readonly now: () => number;
}

/** A call that has no result yet, and what it waits for. */
export interface Waiting {
  readonly call: CallBlock;
  readonly asked: Asked;
}

export interface BatchResults {
  readonly results: readonly ToolResult[];
  readonly blobs: readonly BlobRow[];
  readonly waiting: readonly Waiting[];
  /** The mode that a tool switched to; null where none did. */
  readonly mode: string | null;
}

type Ran = { readonly result: ToolResult; readonly blobs: readonly BlobRow[]; readonly mode?: string } | Waiting;

/**
 * Gates and runs the calls of one answer, a few at a time. One result a call, in the order of the calls; but for those that
 * wait for their owner.
 */
export async function callTools(batch: Batch, calls: readonly CallBlock[]): Promise<BatchResults> {
  const ran = new Array<Ran | undefined>(calls.length);
  const waiting = calls.map((call, index) => ({ call, index }));
  const share = shareOf(calls.length);
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const startedAt = batch.now();
      const one = await callTool(batch, next.call, share.mediaChars);
      ran[next.index] = one;
      if ("asked" in one) continue;
      const { call, name, status } = one.result;
      const content = limitResult(one.result.content, share.textBytes);
      ran[next.index] = { ...one, result: { ...one.result, content } };
      batch.observe({ type: "tool", startedAt, endedAt: batch.now(), call, name, status });
      const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      batch.emit({ type: "result", id: call, name, status, text });
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENT_CALLS, calls.length) }, worker));
  const all = ran.flatMap((one) => one ?? []);
  const over = all.flatMap((one) => ("asked" in one ? [] : one));
  return {
    results: over.map(({ result }) => result),
    blobs: over.flatMap(({ blobs }) => blobs),
    waiting: all.flatMap((one) => ("asked" in one ? one : [])),
    mode: over.findLast(({ mode }) => mode !== undefined)?.mode ?? null,
  };
}

/** The result of a call that was not run, or whose outcome is not known. */
export function interrupted(call: CallBlock, text: string): ToolResult {
  return { call: call.id, name: call.name, status: "interrupted", content: [{ type: "text", text }] };
}

async function callTool(batch: Batch, call: CallBlock, mostMedia: number): Promise<Ran> {
  batch.checkLease();
  if (batch.signal.aborted)
    return { result: interrupted(call, "The turn was stopped before this call ran."), blobs: [] };
  let input: unknown;
  try {
    input = JSON.parse(call.input);
  } catch {
    return said(call, "error", `The input is not valid JSON: ${call.input.slice(0, 500)}`);
  }
  const answer = gate({ ...batch, name: call.name });
  if (!answer.run) return said(call, answer.status, answer.text);
  if (call.name === SEARCH_TOOL) return search(batch, call, input);
  const tool = batch.catalog.byName.get(call.name);
  if (tool === undefined) return said(call, "error", `There is no tool named ${call.name}.`);
  return execute(batch, call, tool, input, mostMedia);
}

function search(batch: Batch, call: CallBlock, input: unknown): Ran {
  const { status, text, addedToolNames } = searchTools(batch.catalog, batch.active, input);
  const { result } = said(call, status, text);
  return { result: status === "ok" ? { ...result, details: { addedToolNames } } : result, blobs: [] };
}

/** Checks the input and runs the tool, both within its time. */
async function execute(batch: Batch, call: CallBlock, tool: Tool, input: unknown, mostMedia: number): Promise<Ran> {
  const controller = new AbortController();
  const over = new AbortController();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  // Nobody may be waiting any more when the turn ends; that is no unhandled error.
  aborted.catch(() => undefined);
  const abort = (why: Error) => {
    controller.abort(why);
    reject(why);
  };
  const stop = () => abort(new Error("stopped"));
  const timer = setTimeout(
    () => abort(new Error(`The tool did not finish within ${tool.timeoutMs} ms.`)),
    tool.timeoutMs,
  );
  batch.signal.addEventListener("abort", stop, { once: true });
  try {
    const context: ToolContext = {
      ...batch.context,
      callId: call.id,
      signal: controller.signal,
      fetch: fetchWithin(batch.context.fetch, over.signal),
      progress: (text) => batch.emit({ type: "progress", id: call.id, text }),
      ask,
    };
    const checked = await Promise.race([tool.validate(input), aborted]);
    if (!checked.ok) {
      const schema = JSON.stringify(tool.spec.inputSchema);
      return said(call, "error", `The input does not match: ${checked.problem}\nThe tool's schema: ${schema}`);
    }
    const returned = await Promise.race([tool.run(checked.value, context), aborted]);
    if (returned instanceof Ask) return { call, asked: returned.asked };
    if (returned instanceof ModeSwitch) return { ...said(call, "ok", returned.text), mode: returned.mode };
    const output = toolOutput(returned, mostMedia);
    const status = output.failed ? "error" : "ok";
    return { result: { call: call.id, name: call.name, status, content: output.content }, blobs: output.blobs };
  } catch (error) {
    if (batch.signal.aborted)
      return { result: interrupted(call, "The turn was stopped while this call ran."), blobs: [] };
    return said(call, "error", error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
    over.abort(new Error("The call is over."));
    batch.signal.removeEventListener("abort", stop);
  }
}

function said(call: CallBlock, status: Status, text: string) {
  const content = [{ type: "text" as const, text }];
  return { result: { call: call.id, name: call.name, status, content }, blobs: [] } satisfies Ran;
}
