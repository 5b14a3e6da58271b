import { deriveActive } from "../catalog/activation.ts";
import { toolCatalog } from "../catalog/catalog.ts";
import { transferInput } from "../define/transfer.ts";
import type { AppendRequest, BlobRow, PendingBatch } from "../session/contract.ts";
import type { CallBlock, ToolResult } from "../values/entry.ts";
import type { Pause } from "../values/pause.ts";
import { type Batch, callTools, type Waiting } from "./call-tools.ts";
import { frozenSchema } from "./frozen-schema.ts";
import type { HeldTurn } from "./held-turn.ts";
import { lost } from "./journal.ts";
import type { Prepared } from "./prepare.ts";
import { prepareNext, type Ready } from "./ready.ts";
import { mustShorten } from "./shorten.ts";
import { transferTask } from "./transfer.ts";

/** What a turn does next: prepare a request, send one, or nothing. */
export type Next = "prepare" | Ready | "ended";

/** Goes on with a turn that died with calls unanswered. */
export async function resumeCalls(turn: HeldTurn, pending: PendingBatch): Promise<Next> {
  const { conversation } = turn;
  const entry = conversation.unsent.find(({ seq }) => seq === pending.seq)?.entry;
  if (entry?.kind !== "assistant") throw new Error(`entry ${pending.seq} is no answer whose calls could be run`);
  const calls = entry.blocks.filter((block) => block.type === "call");
  const catalog = toolCatalog(turn.request.agent, conversation.mode);
  const { active } = deriveActive({ evidence: conversation.evidence, catalog });
  const declared = new Set([...(conversation.deferrals.initial ?? []), ...conversation.deferrals.loadPoints.keys()]);
  return runCalls(turn, pending.seq, calls, { catalog, active: new Set(active), declared }, pending);
}

/** Runs the calls (of a resumed batch those that may run again), and saves their results together with the next request. */
export async function runCalls(
  turn: HeldTurn,
  seq: number,
  calls: readonly CallBlock[],
  prepared: Pick<Prepared, "catalog" | "active" | "declared">,
  pending: Pick<PendingBatch, "calls" | "results"> | null = null,
): Promise<Next> {
  const { conversation, pulse, step } = turn;
  const { sink } = turn.deps;
  for (const { id, name, input } of calls) {
    if (pending === null || !sink.log.has("call", id)) sink.emit({ type: "call", step, id, name, input, host: false });
  }
  const run = calls.filter((call) => pending === null || pending.calls.includes(call.id));
  const { results, blobs, waiting, mode, usage } = await callTools(batchOf(turn, prepared, seq, pending !== null), run);
  turn.used(usage);
  const known = [...(pending?.results ?? []), ...results];
  if (pulse.ended === "handed") {
    const partial = { of: seq, results: known.filter(({ status }) => status !== "interrupted") };
    await turn.handOver({ partial, blobs });
    return "ended";
  }
  const resultOf = (call: CallBlock) => {
    if (waiting.some((asks) => asks.call.id === call.id))
      return turn.unrun(call, "The turn ended before this was answered.");
    const result = known.find((one) => one.call === call.id);
    return result ?? turn.unrun(call, "It is not known whether this call ran: its isolate was lost.");
  };
  if (waiting.length > 0 && pulse.ended === null) {
    const over = calls.filter(({ id }) => !waiting.some(({ call }) => call.id === id));
    await pause(turn, seq, over.map(resultOf), waiting, { blobs, ...switched(turn, mode) });
    return "ended";
  }
  turn.addResults(seq, calls.map(resultOf));
  const change = switched(turn, mode);
  for (const blob of blobs) conversation.blobs.set(blob.hash, blob.base64);
  if (pulse.ended === "lost") throw lost();
  if (pulse.ended === "cancelled") {
    await turn.stop({ blobs, ...change });
    return "ended";
  }
  const expired = turn.expired();
  if (expired !== null) return turn.fail(expired, { blobs });
  if (change.mode !== undefined) {
    await turn.save("results", { blobs, ...change });
    await turn.goOnInMode();
    return "prepare";
  }
  if (mustShorten(turn)) {
    // What the tools did is safe before the model is asked for anything else.
    await turn.save("results", { blobs });
    return "prepare";
  }
  return prepareNext(turn, "results", { blobs });
}

function batchOf(
  turn: HeldTurn,
  { catalog, active, declared }: Pick<Prepared, "catalog" | "active" | "declared">,
  of: number,
  again: boolean,
): Batch {
  const { pulse, conversation } = turn;
  const { env, sink, observe, now } = turn.deps;
  const { agent, owner, conversation: asked, sub } = turn.request;
  const session = { id: asked.id, agent: agent.name, mode: turn.start.mode };
  return {
    catalog,
    active,
    declared,
    // An agent that calls us is nobody who could have approved it.
    allowDestructive: agent.allowDestructive && !owner.roles.includes("agent"),
    frozenSchema: (tool) => frozenSchema(turn.setup, conversation.chain, tool),
    context: { env, owner, session, fetch: turn.fetch },
    transfer: transfers(turn, of, again),
    mayTransfer: () => pulse.ask(),
    mayAsk: sub === undefined,
    signal: pulse.signal,
    checkLease: () => void pulse.check(),
    emit: (event) => sink.emit(event),
    observe: (observed) => observe?.(observed),
    now,
  };
}

/** Hands a task over, for a call of the entry `of`. `again`: it may have been run before. */
function transfers(
  { deps: { subSessions, session }, request, budget, pulse }: HeldTurn,
  of: number,
  again: boolean,
): Batch["transfer"] {
  const { subagents } = request.agent;
  if (subSessions === undefined || subagents.length === 0) return null;
  const isGone = async () => !(await pulse.ask()) && (await session.summary()) === null;
  const transferring = { subSessions, request, budget, of, signal: pulse.signal, again, isGone };
  return (call, input, tell) => {
    const { agent: name, task } = transferInput(input);
    const agent = subagents.find((one) => one.name === name);
    if (agent === undefined) throw new Error(`a task for ${name}, which is no subagent, was let through`);
    return transferTask(transferring, call, agent, task, tell);
  };
}

/** Notes that the batch switched to another mode. */
function switched({ conversation, made }: HeldTurn, mode: string | null): Pick<AppendRequest, "mode"> {
  if (mode === null || mode === conversation.mode) return {};
  conversation.add({ ...made, kind: "mode_change", mode });
  return { mode };
}

/** Ends the turn with calls that wait for their owner. */
async function pause(
  turn: HeldTurn,
  of: number,
  results: readonly ToolResult[],
  waiting: readonly Waiting[],
  fields: { readonly blobs: readonly BlobRow[]; readonly mode?: string },
): Promise<void> {
  const { sink, mintId } = turn.deps;
  const pauses = waiting.map(({ call, asked }): Pause => ({ ...asked, id: `pause_${mintId()}`, call: call.id }));
  turn.conversation.add({ ...turn.made, kind: "pause", of, results, pauses });
  await turn.save("finish", { ...fields, end: { status: "paused", stop: "paused" } });
  for (const one of pauses) sink.emit({ type: "pause", pause: one });
  sink.emit({ type: "done", stop: "paused", usage: turn.usage });
}
