import { deriveActive } from "../catalog/activation.ts";
import { toolCatalog } from "../catalog/catalog.ts";
import { transferInput } from "../define/transfer.ts";
import { type GuardedFetch, guardedFetch } from "../egress/guarded-fetch.ts";
import { egressPolicy } from "../egress/refusal.ts";
import { RETRIES } from "../providers/contract.ts";
import type { AppendRequest, BlobRow, CallRecord, PendingBatch, TurnStart } from "../session/contract.ts";
import type { EventLog } from "../session/event-log.ts";
import type { AssistantEntry, CallBlock, CompactionEntry, ToolResult } from "../values/entry.ts";
import { type Failure, failureOf, HoldfastError } from "../values/errors.ts";
import type { Pause } from "../values/pause.ts";
import { SEARCH_TOOL } from "../values/tool.ts";
import { addUsage, NO_USAGE, newTokens, type Usage } from "../values/usage.ts";
import { Answer } from "./answer.ts";
import { askedChain, rerunOf } from "./begin.ts";
import { Budget } from "./budget.ts";
import { callRecord } from "./call-record.ts";
import { type Batch, callTools, interrupted, type Waiting } from "./call-tools.ts";
import { compact, compactionEntry, isDue, planFor, staying, withoutBlock } from "./compact.ts";
import type { Conversation } from "./conversation.ts";
import type { StepDeps } from "./deps.ts";
import { awake, fallsBack, PATIENCE_SECONDS, restAfter } from "./fallback.ts";
import { frozenSchema } from "./frozen-schema.ts";
import { answeredWrite, lost, saving } from "./journal.ts";
import { type Line, lineOf } from "./line.ts";
import { overLimit, overtime, type Spent } from "./over-limit.ts";
import { type Prepared, prepare } from "./prepare.ts";
import type { Pulse } from "./pulse.ts";
import { isRefused, isTooLong, refusesThinking } from "./refused.ts";
import type { TurnRequest } from "./runtime.ts";
import { type Model, summaryModel } from "./settings.ts";
import type { Setup } from "./setup.ts";
import { Subrequests } from "./subrequests.ts";
import { transferTask } from "./transfer.ts";

/** A request that can go out. `saved`: the session has its bytes already; otherwise they are saved with its answer. */
interface Ready {
  readonly prepared: Prepared;
  readonly saved: boolean;
}

/** A request that was sent, and what came back. */
interface Asked extends Ready {
  readonly answer: Answer;
  /** Null where the session has it already. */
  readonly call: CallRecord | null;
}

/** What a turn does next: prepare a request, send one, or nothing. */
type Next = "prepare" | Ready | "ended";

/** The steps of a turn that has begun: ask the model, run its calls, ask again. */
export class Steps {
  usage: Usage = NO_USAGE;
  /** The turn goes on elsewhere. */
  handedOver = false;
  readonly #deps: StepDeps;
  readonly #request: TurnRequest;
  /** The models that may still be asked, the present one first. */
  #models: readonly Model[];
  #start: TurnStart;
  readonly #pulse: Pulse;
  #line: Line;
  /** When the turn began, and the tokens that it had used before this attempt. */
  readonly #since: number;
  readonly #usedBefore: number;
  /** One for the turn, since its limits are the turn's. */
  readonly #fetch: GuardedFetch;
  readonly #subrequests: Subrequests;
  readonly #budget: Budget;
  #step: number;
  /** Model calls that led to no entry. */
  #idle = 0;
  /** A compaction failed: this turn tries none by itself any more. */
  #keepsLong = false;
  #lastBatch = "";
  #repeats = 0;
  /** The mode was changed, and nothing that the next request carries is marked as sent yet. */
  #reread = false;

  /** `models`: the one that `start` is of, then those to fall back on. */
  constructor(
    deps: StepDeps,
    request: TurnRequest,
    models: readonly [Model, ...Model[]],
    start: TurnStart,
    pulse: Pulse,
  ) {
    this.#deps = deps;
    this.#request = request;
    this.#models = models;
    this.#start = start;
    this.#pulse = pulse;
    this.#step = start.step;
    this.#line = lineOf(deps, request, start, models[0]);
    this.#subrequests = new Subrequests(deps.session, request.agent.limits.subrequests);
    this.#fetch = guardedFetch(egressPolicy(deps.env, request.host ?? null), {}, () => this.#subrequests.outside());
    const { agent, sub } = request;
    this.#budget = sub?.budget ?? new Budget(Math.min(agent.limits.steps, sub?.steps ?? agent.limits.steps));
    this.#budget.spend(start.step);
    const { seconds } = agent.limits;
    this.#since = start.began ?? deps.now();
    this.#usedBefore = newTokens(start.spent ?? NO_USAGE);
    if (seconds !== false) pulse.expireAt(this.#since + seconds * 1_000);
  }

  get #model(): Model {
    return this.#line.model;
  }

  get #key(): string {
    return this.#line.key;
  }

  get #conversation(): Conversation {
    return this.#line.conversation;
  }

  get #setup(): Setup {
    return this.#line.setup;
  }

  get #session() {
    return {
      id: this.#request.conversation.id,
      agent: this.#request.agent.name,
      mode: this.#start.mode,
    };
  }

  async run(): Promise<void> {
    const { agent, conversation } = this.#request;
    const { sink } = this.#deps;
    const { turn, step, pending, resting = [] } = this.#start;
    if (sink.log.last === 0) sink.emit({ type: "started", turn, conversation: conversation.id, agent: agent.name });
    else if (isUnderWay(sink.log, step)) {
      // The step was under way where the turn was before.
      sink.emit({ type: "withdrawn", step: step + 1 });
    }
    // Where all of them rest, the agent's own is asked: somebody has to be.
    const first = awake(this.#models, resting, this.#deps.now());
    if (first !== null && first !== this.#model) await this.#switchTo(first);
    let next: Next = pending === null ? "prepare" : await this.#resume(pending);
    while (next !== "ended") {
      if (this.#pulse.leaves) {
        await this.#handOver();
        return;
      }
      if (!this.#budget.take()) {
        const message = `The turn stopped after ${this.#budget.taken} model calls, which is this agent's limit.`;
        return this.#fail({ reason: "limit", limit: "steps", message });
      }
      if (this.#subrequests.isSpent) return this.#fail(this.#subrequests.failure().failure);
      const over = overLimit(agent.limits, this.#spent());
      if (over !== null) return this.#fail(over);
      this.#step += 1;
      const ready: Ready = next === "prepare" ? await this.#prepareFirst() : next;
      const asked = await this.#ask(ready);
      next = asked === null ? "ended" : await this.#continue(asked);
    }
  }

  /**
   * A turn's first request, or one that results did not already save. What it changed is saved before it goes out; if
   * nothing did, its bytes wait for its answer. A compaction comes before anything is derived from the context.
   */
  async #prepareFirst(): Promise<Ready> {
    const due = this.#isDue();
    if (due) this.#keepsLong = !(await this.#compact("threshold", this.#conversation));
    const prepared = await prepare(this.#setup, this.#conversation);
    const saved =
      due || this.#reread || prepared.changed || prepared.opening !== null || this.#conversation.unsaved.length > 0;
    this.#reread = false;
    if (saved) await this.#save("before", saving(prepared, this.#conversation));
    return { prepared, saved };
  }

  #isDue(): boolean {
    return !this.#keepsLong && isDue(this.#setup, this.#conversation);
  }

  /**
   * Makes the context shorter, by a summary that is asked for as `from` stands. False where that did not succeed, which
   * changes nothing.
   */
  async #compact(why: CompactionEntry["why"], from: Conversation): Promise<boolean> {
    const { runtime, env, now, observe, log } = this.#deps;
    const { agent } = this.#request;
    const whole = await this.#setup.whole();
    const done = await compact({
      ...{ setup: this.#setup, conversation: from, whole, asked: this.#start.userSeq, why },
      model: summaryModel(runtime, agent, env, this.#model),
      ask: { env, signal: this.#pulse.signal, now, observe, step: this.#step },
    });
    if (this.#pulse.ended === "lost") throw lost();
    if (done === null) return false;
    const { summary, entry } = done;
    this.usage = addUsage(this.usage, summary.usage);
    for (const _ of summary.calls) this.#subrequests.model(RETRIES);
    for (const call of entry === null ? summary.calls : summary.calls.slice(0, -1)) await this.#saveCall(call);
    if (entry !== null) this.#conversation.compact(entry, whole, summary.calls.at(-1) ?? null);
    else log("compaction failed", { level: "warn", turn: this.#start.turn, agent: agent.name });
    return entry !== null;
  }

  /** The provider compacted the context by itself: its block stands for what came before, and all else is as ever. */
  async #compactedBy({ summary, raw }: { summary: string; raw: string }, call: CallRecord | null): Promise<void> {
    const whole = await this.#setup.whole();
    const work = { setup: this.#setup, conversation: this.#conversation, whole, asked: this.#start.userSeq };
    const kept = planFor(work)?.kept ?? staying(whole);
    const block = { provider: this.#model.provider.name, model: this.#model.full, raw };
    this.#conversation.compact(compactionEntry(work, { kept }, { summary, why: "provider", block }), whole, call);
  }

  #saveCall(call: CallRecord, fields: Pick<AppendRequest, "ends"> = {}): Promise<void> {
    this.#idle += 1;
    return this.#save("call", { call, n: this.#idle, ...fields });
  }

  /**
   * Sends a request and takes the answer. One that the provider calls too long is sent once more after a compaction.
   * Returns null when the turn ended with it.
   */
  async #ask({ prepared, saved }: Ready, again = false): Promise<Asked | null> {
    const { sink, env, now, observe } = this.#deps;
    const { provider, name, full } = this.#model;
    const patience = this.#request.agent.fallback.length > 0 ? { patience: PATIENCE_SECONDS } : {};
    const step = this.#step;
    const conversation = this.#conversation;
    const over = this.#pulse.check();
    if (over === "lost") throw lost();
    if (over === "handed") return this.#handOver();
    if (over === "cancelled") {
      // Whoever asked has left before anything was sent.
      await this.#save("finish", { end: { status: "stopped", stop: "stopped" } });
      sink.emit({ type: "done", stop: "stopped", usage: this.usage });
      return null;
    }
    const answer = new Answer();
    sink.emit({ type: "request", step, verdict: prepared.verdict, model: full });
    const before = conversation.aside();
    conversation.sent(prepared.chain);
    let failure: Failure | null = null;
    const startedAt = now();
    let firstAt: number | null = null;
    this.#subrequests.model(RETRIES);
    try {
      for await (const event of provider.stream(name, prepared.body, {
        env,
        signal: this.#pulse.signal,
        ...patience,
      })) {
        firstAt ??= now();
        if (event.type === "begun") this.#tellBegun(prepared);
        if (event.type === "text" || event.type === "thinking") sink.emit({ ...event, step });
        answer.take(event);
      }
    } catch (error) {
      failure = failureOf(error);
    }
    this.usage = addUsage(this.usage, answer.usage);
    // Of an answer that is handed over with its turn nothing is kept.
    const kept = answer.isMessage && this.#pulse.ended !== "handed";
    if (answer.begun) conversation.answered(prepared, answer, kept);
    const endedAt = now();
    const call = callRecord(
      { turn: this.#start.turn, step, at: endedAt, model: full, chain: this.#key },
      prepared,
      answer,
      kept,
      restAfter(failure, endedAt),
    );
    observe?.({
      ...{ type: "model", startedAt, firstAt, endedAt, provider: provider.name, model: name },
      record: call,
      failure: this.#pulse.ended === null ? failure : null,
    });
    if (this.#pulse.ended === "lost") throw lost();
    failure = this.#expired() ?? failure;
    const asked = { prepared, saved, answer, call };
    if (failure === null && this.#pulse.ended === null) return asked;
    if (this.#pulse.ended === "handed") {
      return this.#handOver({ call, ...answeredWrite(prepared, this.#key, saved, answer.begun, kept) });
    }
    if (failure !== null && this.#pulse.ended === null && !answer.begun && fallsBack(failure)) {
      const ready = await this.#fallBack(call);
      if (ready !== null) return this.#ask(ready);
    }
    if (failure !== null && this.#pulse.ended === null && !answer.begun && !again && refusesThinking(failure)) {
      return this.#ask(await this.#withoutThinking(call), true);
    }
    if (failure !== null && this.#shortens(failure, answer, again)) {
      await this.#saveCall(call);
      if (await this.#compact("too_long", before)) return this.#ask(await this.#prepareFirst(), true);
      return this.#cut({ ...asked, call: null }, failure);
    }
    return this.#cut(asked, failure);
  }

  /**
   * Begins new epochs, which replay no thinking, after the provider refused what it once signed or encrypted itself: another
   * account or address answers now, and it would refuse every later request too. A compaction of its own that it can't
   * read any more is left to our words.
   */
  async #withoutThinking(call: CallRecord): Promise<Ready> {
    await this.#saveCall(call, { ends: "settings" });
    await this.#switchTo(this.#model);
    const whole = await this.#setup.whole();
    const compaction = withoutBlock(this.#setup, whole, this.#start.turn);
    if (compaction !== null) this.#conversation.compact(compaction, whole, null);
    return this.#prepareFirst();
  }

  /** Whether a request that failed is worth another try with a shorter context. */
  #shortens(failure: Failure, { begun }: Answer, again: boolean): boolean {
    const { automatic } = this.#request.agent.compaction;
    return automatic && !again && !begun && this.#pulse.ended === null && isTooLong(failure);
  }

  /** Ends the turn with what there is of an answer that did not come to its end. */
  async #cut(asked: Asked, failure: Failure | null): Promise<null> {
    const { answer } = asked;
    answer.stop = this.#pulse.ended === "cancelled" ? "stopped" : "cut";
    await this.#end(asked, this.#pulse.ended === "cancelled" ? null : failure);
    return null;
  }

  /**
   * Makes the request anew for the next model, after one that failed before its answer began. Null where there is none.
   * What is marked stays marked: the deferrals are the session's, whatever the model.
   */
  async #fallBack(call: CallRecord): Promise<Ready | null> {
    const next = awake(this.#models.slice(1), this.#start.resting ?? [], this.#deps.now());
    if (next === null) return null;
    await this.#saveCall(call);
    await this.#switchTo(next);
    const prepared = await prepare(this.#setup, this.#conversation);
    await this.#save("before", saving(prepared, this.#conversation));
    return { prepared, saved: true };
  }

  /** Goes on with another of the models, as its chain stands in the session. Those before it are not asked any more. */
  async #switchTo(model: Model): Promise<void> {
    const asked = { chain: askedChain(model), rerun: rerunOf(this.#request.agent) };
    const start = await this.#deps.session.reread(this.#start.fence, asked);
    if (start === null) throw lost();
    this.#models = this.#models.slice(this.#models.indexOf(model));
    // What the request that failed may have carried counts as sent.
    const sentThrough = Math.max(this.#conversation.sentThrough, start.sentThrough);
    this.#line = lineOf(this.#deps, this.#request, { ...start, sentThrough }, model);
  }

  /** The answer begins; the host search that was made for its request is told only now that it was taken. */
  #tellBegun({ searched }: Prepared): void {
    const { sink } = this.#deps;
    const step = this.#step;
    sink.emit({ type: "answering", step });
    if (searched === null) return;
    const input = JSON.stringify({ query: searched.names.join(", ") });
    sink.emit({ type: "call", step, id: searched.call, name: SEARCH_TOOL, input, host: true });
  }

  /** After a whole answer: runs its calls and saves the next request, or ends the turn. */
  async #continue(asked: Asked): Promise<Next> {
    const { prepared, saved, answer, call } = asked;
    const { calls } = answer;
    const { summary = null, raw = "" } = answer.compacted ?? {};
    if (summary !== null) {
      await this.#compactedBy({ summary, raw }, call);
      return "prepare";
    }
    const more = answer.stop === "paused" || (calls.length > 0 && (answer.stop === "calls" || answer.stop === "end"));
    if (!more) {
      await this.#end(asked, null);
      return "ended";
    }
    const seq = this.#conversation.add(this.#assistant(prepared, answer));
    const known = call === null ? {} : { call };
    const record = { ...known, ...answeredWrite(prepared, this.#key, saved, answer.begun, answer.isMessage) };
    if (answer.stop === "paused") {
      await this.#save("answer", { ...record, sentThrough: seq });
      return "prepare";
    }
    await this.#save("answer", record);
    const batch = JSON.stringify(calls.map(({ name, input }) => [name, input]));
    this.#repeats = batch === this.#lastBatch ? this.#repeats + 1 : 1;
    this.#lastBatch = batch;
    if (this.#repeats >= this.#request.agent.limits.repeats) {
      const text = `Not run: the same calls were made ${this.#repeats} times in a row.`;
      this.#results(
        seq,
        calls.map((one) => this.#unrun(one, text, "denied")),
      );
      return this.#fail({ reason: "limit", limit: "repeats", message: `The turn stopped: ${text}` });
    }
    return this.#runCalls(seq, calls, prepared);
  }

  /** Goes on with a turn that died with calls unanswered. */
  async #resume(pending: NonNullable<TurnStart["pending"]>): Promise<Next> {
    const conversation = this.#conversation;
    const entry = conversation.unsent.find(({ seq }) => seq === pending.seq)?.entry;
    if (entry?.kind !== "assistant") throw new Error(`entry ${pending.seq} is no answer whose calls could be run`);
    const calls = entry.blocks.filter((block) => block.type === "call");
    const catalog = toolCatalog(this.#request.agent, conversation.mode);
    const { active } = deriveActive({ evidence: conversation.evidence, catalog });
    const declared = new Set([...(conversation.deferrals.initial ?? []), ...conversation.deferrals.loadPoints.keys()]);
    const prepared = { catalog, active: new Set(active), declared };
    return this.#runCalls(pending.seq, calls, prepared, pending);
  }

  /** Runs the calls (of a resumed batch those that may run again), and saves their results together with the next request. */
  async #runCalls(
    seq: number,
    calls: readonly CallBlock[],
    prepared: Pick<Prepared, "catalog" | "active" | "declared">,
    pending: Pick<PendingBatch, "calls" | "results"> | null = null,
  ): Promise<Next> {
    const { env, sink } = this.#deps;
    const { agent, owner } = this.#request;
    const step = this.#step;
    for (const { id, name, input } of calls) {
      if (!sink.log.has("call", id)) sink.emit({ type: "call", step, id, name, input, host: false });
    }
    const run = calls.filter((call) => pending === null || pending.calls.includes(call.id));
    const { results, blobs, waiting, mode, usage } = await callTools(
      {
        catalog: prepared.catalog,
        active: prepared.active,
        declared: prepared.declared,
        // An agent that calls us is nobody who could have approved it.
        allowDestructive: agent.allowDestructive && !owner.roles.includes("agent"),
        frozenSchema: (tool) => frozenSchema(this.#setup, this.#conversation.chain, tool),
        context: { env, owner, session: this.#session, fetch: this.#fetch },
        transfer: this.#transfer(pending !== null),
        mayAsk: this.#request.sub === undefined,
        signal: this.#pulse.signal,
        checkLease: () => void this.#pulse.check(),
        emit: (event) => sink.emit(event),
        observe: (observed) => this.#deps.observe?.(observed),
        now: this.#deps.now,
      },
      run,
    );
    this.usage = addUsage(this.usage, usage);
    const known = [...(pending?.results ?? []), ...results];
    if (this.#pulse.ended === "handed") {
      const partial = { of: seq, results: known.filter(({ status }) => status !== "interrupted") };
      await this.#handOver({ partial, blobs });
      return "ended";
    }
    const unknown = (call: CallBlock) =>
      this.#unrun(call, "It is not known whether this call ran: its isolate was lost.");
    const resultOf = (call: CallBlock) => {
      if (waiting.some((asks) => asks.call.id === call.id))
        return this.#unrun(call, "The turn ended before this was answered.");
      return known.find((result) => result.call === call.id) ?? unknown(call);
    };
    if (waiting.length > 0 && this.#pulse.ended === null) {
      const over = calls.filter(({ id }) => !waiting.some(({ call }) => call.id === id));
      return this.#pause(seq, over.map(resultOf), waiting, this.#switched(mode), blobs);
    }
    this.#results(seq, calls.map(resultOf));
    const switched = this.#switched(mode);
    for (const blob of blobs) this.#conversation.blobs.set(blob.hash, blob.base64);
    if (this.#pulse.ended === "lost") throw lost();
    if (this.#pulse.ended === "cancelled") {
      await this.#save("finish", { blobs, ...switched, end: { status: "stopped", stop: "stopped" } });
      sink.emit({ type: "done", stop: "stopped", usage: this.usage });
      return "ended";
    }
    const expired = this.#expired();
    if (expired !== null) return this.#fail(expired, { blobs });
    if (switched.mode !== undefined) {
      await this.#save("results", { blobs, ...switched });
      await this.#goOnInMode();
      return "prepare";
    }
    if (this.#isDue()) {
      // What the tools did is safe before the model is asked for anything else.
      await this.#save("results", { blobs });
      return "prepare";
    }
    const next = await prepare(this.#setup, this.#conversation);
    await this.#save("results", { blobs, ...saving(next, this.#conversation) });
    return { prepared: next, saved: true };
  }

  /** Hands a task over. `again`: the call may have been run before. */
  #transfer(again: boolean): Batch["transfer"] {
    const { subSessions } = this.#deps;
    const { subagents } = this.#request.agent;
    if (subSessions === undefined || subagents.length === 0) return null;
    const transferring = {
      subSessions,
      request: this.#request,
      budget: this.#budget,
      signal: this.#pulse.signal,
      again,
    };
    return (call, input, tell) => {
      const { agent: name, task } = transferInput(input);
      const agent = subagents.find((one) => one.name === name);
      if (agent === undefined) throw new Error(`a task for ${name}, which is no subagent, was let through`);
      return transferTask(transferring, call, agent, task, tell);
    };
  }

  /** Notes that the batch switched to another mode. */
  #switched(mode: string | null): Pick<AppendRequest, "mode"> {
    if (mode === null || mode === this.#conversation.mode) return {};
    const made = { v: 1, origin: "runtime", at: this.#deps.now(), turn: this.#start.turn } as const;
    this.#conversation.add({ ...made, kind: "mode_change", mode });
    return { mode };
  }

  /** Reads what the turn goes on from in the mode that it switched to, which may be another chain. */
  async #goOnInMode(): Promise<void> {
    const start = await this.#deps.session.reread(this.#start.fence, { chain: askedChain(this.#model), rerun: [] });
    if (start === null) throw lost();
    this.#start = start;
    this.#line = lineOf(this.#deps, this.#request, start, this.#model);
    this.#reread = true;
  }

  /** Ends the turn with calls that wait for their owner. */
  async #pause(
    of: number,
    results: readonly ToolResult[],
    waiting: readonly Waiting[],
    switched: Pick<AppendRequest, "mode">,
    blobs: readonly BlobRow[],
  ): Promise<Next> {
    const pauses = waiting.map(
      ({ call, asked }): Pause => ({ ...asked, id: `pause_${this.#deps.mintId()}`, call: call.id }),
    );
    const made = { v: 1, origin: "runtime", at: this.#deps.now(), turn: this.#start.turn } as const;
    this.#conversation.add({ ...made, kind: "pause", of, results, pauses });
    await this.#save("finish", { blobs, ...switched, end: { status: "paused", stop: "paused" } });
    const { sink } = this.#deps;
    for (const pause of pauses) sink.emit({ type: "pause", pause });
    sink.emit({ type: "done", stop: "paused", usage: this.usage });
    return "ended";
  }

  /** Ends the turn with this answer, whole or not. */
  async #end({ prepared, saved, answer, call }: Asked, failure: Failure | null): Promise<void> {
    const { sink } = this.#deps;
    const entry = this.#assistant(prepared, answer);
    if (entry.blocks.length > 0) {
      const seq = this.#conversation.add(entry);
      const text =
        answer.stop === "length"
          ? "Not run: the answer was cut at the output limit."
          : "The turn ended before this call ran.";
      const { calls } = answer;
      if (calls.length > 0) {
        this.#results(
          seq,
          calls.map((one) => this.#unrun(one, text)),
        );
      }
    }
    await this.#save("finish", {
      ...(call === null ? {} : { call }),
      ...answeredWrite(prepared, this.#key, saved, answer.begun, answer.isMessage),
      end: this.#ending(prepared, answer, failure),
    });
    if (failure !== null) throw new HoldfastError(failure);
    const { stop, detail } = answer;
    sink.emit({ type: "done", stop, usage: this.usage, ...(detail === undefined ? {} : { detail }) });
  }

  #ending(
    prepared: Prepared,
    { begun, stop, detail }: Answer,
    failure: Failure | null,
  ): NonNullable<AppendRequest["end"]> {
    if (failure === null) {
      return { status: stop === "stopped" ? "stopped" : "done", stop, ...(detail === undefined ? {} : { detail }) };
    }
    if (begun || !isRefused(failure, prepared.newItems)) return { status: "failed", failure };
    const { userSeq } = this.#start;
    const step = this.#conversation.newestAssistant ?? 0;
    return { status: "refused", from: Math.max(userSeq, step), failure };
  }

  /** Ends the turn at a limit: what is there stays, and the caller reads why. */
  async #fail(failure: Failure, fields: Partial<AppendRequest> = {}): Promise<never> {
    await this.#save("finish", { ...fields, end: { status: "failed", failure } });
    throw new HoldfastError(failure);
  }

  #save(kind: AppendRequest["kind"], fields: Partial<AppendRequest>): Promise<void> {
    return this.#line.journal.append(kind, this.#step, fields);
  }

  #spent(): Spent {
    const tokens = newTokens(this.usage) + this.#usedBefore;
    return { tokens, ms: this.#deps.now() - this.#since };
  }

  /** The failure of a turn that was ended in the middle of a step, since it took too long; null for any other. */
  #expired(): Failure | null {
    return this.#pulse.ended === "expired" ? overtime(this.#request.agent.limits, this.#spent().ms) : null;
  }

  /** Gives the session back after a fault of ours. */
  giveUp(failure: Failure): Promise<void> {
    return this.#line.journal.giveUp(this.#step, failure);
  }

  /** Another isolate is to go on from here. */
  async #handOver(fields: Partial<AppendRequest> = {}): Promise<null> {
    const { log } = this.#deps.sink;
    await this.#save("handover", { ...fields, told: { log: log.id, after: 0, events: log.all } });
    this.handedOver = true;
    this.#deps.sink.close();
    return null;
  }

  #assistant(prepared: Prepared, answer: Answer): AssistantEntry {
    return {
      v: 1,
      kind: "assistant",
      origin: "runtime",
      at: this.#deps.now(),
      turn: this.#start.turn,
      model: this.#model.full,
      chain: this.#key,
      epoch: prepared.chain.epoch,
      blocks: answer.blocks,
      stop: answer.stop,
    };
  }

  /** The result of a call that is not run, told to whoever listens. */
  #unrun(call: CallBlock, text: string, status: "interrupted" | "denied" = "interrupted"): ToolResult {
    const result = { ...interrupted(call, text), status };
    this.#deps.sink.emit({ type: "result", id: call.id, name: call.name, status, text });
    return result;
  }

  #results(of: number, results: readonly ToolResult[]): void {
    const made = { v: 1, origin: "runtime", at: this.#deps.now(), turn: this.#start.turn } as const;
    this.#conversation.add({ ...made, kind: "results", of, results });
  }
}

/** Whether the step after so many was begun where the turn was before. */
function isUnderWay(log: EventLog, steps: number): boolean {
  return log.all.some((event) => event.type === "request" && event.step > steps);
}
