import type { Catalog } from "../catalog/catalog.ts";
import { gate } from "../catalog/permission.ts";
import { searchTools } from "../catalog/search.ts";
import { type JsonSchema, jsonSchemaCheck } from "../define/json-schema.ts";
import type { Tool, ToolContext } from "../define/types.ts";
import { fetchWithin } from "../egress/fetch-within.ts";
import { usedFor } from "../session/children.ts";
import type { BlobRow } from "../session/contract.ts";
import type { CallBlock, Status, ToolResult } from "../values/entry.ts";
import { ModeSwitch } from "../values/mode-switch.ts";
import { Ask, type Asked } from "../values/pause.ts";
import { SEARCH_TOOL, TRANSFER_TOOL } from "../values/tool.ts";
import type { TurnEventBody } from "../values/turn-event.ts";
import type { Usage } from "../values/usage.ts";
import { ask } from "./ask.ts";
import { schemaLine } from "./frozen-schema.ts";
import { limitResult, shareOf } from "./limit-result.ts";
import { CONCURRENT_CALLS, CONCURRENT_SUB_SESSIONS, STOP_GRACE_MS } from "./limits.ts";
import type { Observe } from "./observation.ts";
import { toolOutput } from "./tool-output.ts";
import type { Transferred } from "./transfer.ts";

/** What a batch of calls is run with. */
export interface Batch {
  readonly catalog: Catalog<Tool>;
  readonly active: ReadonlySet<string>;
  readonly declared: ReadonlySet<string>;
  /** The schema that the model was told to call a tool by, where that is not the deployed one (`frozen-schema.ts`). */
  readonly frozenSchema: (tool: Tool) => JsonSchema | null;
  readonly allowDestructive: boolean;
  readonly context: Omit<ToolContext, "callId" | "signal" | "progress" | "ask">;
  /** Hands a task over; null where tasks can't be. `tell` shows the caller a line. */
  readonly transfer: ((call: string, input: unknown, tell: (line: string) => void) => Promise<Transferred>) | null;
  /** The session says that the turn may go on: asked before a task is handed over, which makes what outlives this isolate. */
  readonly mayTransfer: () => Promise<boolean>;
  /** Somebody can be asked: nobody is there in a sub-session. */
  readonly mayAsk: boolean;
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
  /** What sub-sessions used. */
  readonly usage: Usage;
}

type Ran =
  | {
      readonly result: ToolResult;
      readonly blobs: readonly BlobRow[];
      readonly mode?: string;
    }
  | Waiting;

/**
 * Gates and runs the calls of one answer, a few at a time. One result a call, in the order of the calls; but for those that
 * wait for their owner.
 */
export async function callTools(batch: Batch, calls: readonly CallBlock[]): Promise<BatchResults> {
  const ran = new Array<Ran | undefined>(calls.length);
  const share = shareOf(calls.length);
  const all = calls.map((call, index) => ({ call, index }));
  const worker = async (queue: typeof all) => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
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
  const workers = (queue: typeof all, most: number) =>
    Array.from({ length: Math.min(most, queue.length) }, () => worker(queue));
  const transfers = all.filter(({ call }) => call.name === TRANSFER_TOOL);
  const others = all.filter(({ call }) => call.name !== TRANSFER_TOOL);
  await Promise.all([...workers(others, CONCURRENT_CALLS), ...workers(transfers, CONCURRENT_SUB_SESSIONS)]);
  const done = ran.flatMap((one) => one ?? []);
  const over = done.flatMap((one) => ("asked" in one ? [] : one));
  return {
    results: over.map(({ result }) => result),
    blobs: over.flatMap(({ blobs }) => blobs),
    waiting: done.flatMap((one) => ("asked" in one ? one : [])),
    mode: over.findLast(({ mode }) => mode !== undefined)?.mode ?? null,
    usage: usedFor(over.map(({ result }) => result)),
  };
}

/** The result of a call that was not run, or whose outcome is not known. */
export function interrupted(call: CallBlock, text: string): ToolResult {
  return { call: call.id, name: call.name, status: "interrupted", content: [{ type: "text", text }] };
}

function notRun(call: CallBlock): Ran {
  return { result: interrupted(call, "The turn was stopped before this call ran."), blobs: [] };
}

async function callTool(batch: Batch, call: CallBlock, mostMedia: number): Promise<Ran> {
  batch.checkLease();
  if (batch.signal.aborted) return notRun(call);
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
  return call.name === TRANSFER_TOOL
    ? transfer(batch, call, tool, input)
    : execute(batch, call, tool, input, mostMedia);
}

async function transfer(batch: Batch, call: CallBlock, tool: Tool, input: unknown): Promise<Ran> {
  if (batch.transfer === null) return said(call, "error", "No task can be handed over here.");
  const checked = await tool.validate(input);
  if (!checked.ok) return mismatch(call, tool, checked.problem);
  const may = await batch.mayTransfer().catch(() => null);
  if (may === null)
    return said(call, "error", "The task was not handed over: the session could not be asked. Try again.");
  if (!may) return notRun(call);
  const tell = (text: string) => batch.emit({ type: "progress", id: call.id, text });
  const { status, text, session, used } = await batch.transfer(call.id, checked.value, tell);
  const { result, blobs } = said(call, status, text);
  return { result: { ...result, session, used }, blobs };
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
  let running: Promise<unknown> = Promise.resolve();
  try {
    const context: ToolContext = {
      ...batch.context,
      callId: call.id,
      signal: controller.signal,
      fetch: fetchWithin(batch.context.fetch, over.signal),
      progress: (text) => batch.emit({ type: "progress", id: call.id, text }),
      ask,
    };
    const frozen = batch.frozenSchema(tool);
    const told = frozen === null ? null : jsonSchemaCheck(frozen)(input);
    const checked = told?.ok === false ? told : await Promise.race([tool.validate(input), aborted]);
    if (!checked.ok) return mismatch(call, tool, checked.problem);
    running = tool.run(checked.value, context);
    const returned = await Promise.race([running, aborted]);
    if (returned instanceof Ask) {
      return batch.mayAsk ? { call, asked: returned.asked } : said(call, "error", NOBODY_TO_ASK);
    }
    if (returned instanceof ModeSwitch) return { ...said(call, "ok", returned.text), mode: returned.mode };
    const output = toolOutput(returned, mostMedia);
    const status = output.failed ? "error" : "ok";
    return { result: { call: call.id, name: call.name, status, content: output.content }, blobs: output.blobs };
  } catch (error) {
    if (batch.signal.aborted) {
      await settled(running);
      return { result: interrupted(call, "The turn was stopped while this call ran."), blobs: [] };
    }
    return said(call, "error", error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
    over.abort(new Error("The call is over."));
    batch.signal.removeEventListener("abort", stop);
  }
}

const NOBODY_TO_ASK =
  "Nobody can be asked here: this task was handed over by another agent. Go on without an answer, or say in yours what is missing.";

function mismatch(call: CallBlock, tool: Tool, problem: string) {
  return said(call, "error", `The input does not match: ${problem}\n${schemaLine(tool.spec.inputSchema)}`);
}

/** A tool whose turn was stopped gets a moment to stop what it began elsewhere: this isolate may end right after. */
async function settled(running: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const moment = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STOP_GRACE_MS);
  });
  await Promise.race([running.catch(() => undefined), moment]);
  clearTimeout(timer);
}

function said(call: CallBlock, status: Status, text: string) {
  const content = [{ type: "text" as const, text }];
  return { result: { call: call.id, name: call.name, status, content }, blobs: [] } satisfies Ran;
}
