import { type GuardedFetch, guardedFetch } from "../egress/guarded-fetch.ts";
import { egressPolicy } from "../egress/refusal.ts";
import type { AppendRequest, BeginRequest, CallRecord, TurnEnd, TurnStart } from "../session/contract.ts";
import type { CallBlock, ToolResult } from "../values/entry.ts";
import { type Failure, HoldfastError } from "../values/errors.ts";
import { addUsage, NO_USAGE, newTokens, type Usage } from "../values/usage.ts";
import { askedChain, rerunOf } from "./begin.ts";
import { type Budget, budgetOf } from "./budget.ts";
import { interrupted } from "./call-tools.ts";
import type { Conversation } from "./conversation.ts";
import type { StepDeps } from "./deps.ts";
import { lost } from "./journal.ts";
import { type Line, lineOf } from "./line.ts";
import { overtime } from "./over-limit.ts";
import type { Pulse } from "./pulse.ts";
import type { TurnRequest } from "./runtime.ts";
import type { Model } from "./settings.ts";
import type { Setup } from "./setup.ts";
import { Subrequests } from "./subrequests.ts";

/** A turn that this isolate holds: where it stands, what it may still use, and what it writes to its session. */
export class HeldTurn {
  readonly deps: StepDeps;
  readonly request: TurnRequest;
  readonly pulse: Pulse;
  /** One for the turn, since its limits are the turn's. */
  readonly fetch: GuardedFetch;
  readonly subrequests: Subrequests;
  readonly budget: Budget;
  step: number;
  /** In all its attempts, with its sub-sessions. */
  usage: Usage;
  /** The turn goes on elsewhere. */
  handedOver = false;
  /** A compaction failed: this turn tries none by itself any more. */
  keepsLong = false;
  /** The mode was changed, and nothing that the next request carries is marked as sent yet. */
  reread = false;
  /** The models that may still be asked, the present one first. */
  #models: readonly Model[];
  #start: TurnStart;
  #line: Line;
  /** When the turn began. */
  readonly #since: number;
  /** Model calls that led to no entry. */
  #idle = 0;

  /** `models`: the one that `start` is of, then those to fall back on. */
  constructor(
    deps: StepDeps,
    request: TurnRequest,
    models: readonly [Model, ...Model[]],
    start: TurnStart,
    pulse: Pulse,
  ) {
    this.deps = deps;
    this.request = request;
    this.pulse = pulse;
    this.step = start.step;
    this.#models = models;
    this.#start = start;
    this.#line = lineOf(deps, request, start, models[0]);
    this.subrequests = new Subrequests(deps.session, request.agent.limits.subrequests);
    this.fetch = guardedFetch(egressPolicy(deps.env, request.host ?? null), {}, () => this.subrequests.outside());
    const { agent, sub } = request;
    this.usage = start.spent ?? NO_USAGE;
    this.budget = sub?.budget ?? budgetOf(agent, sub);
    this.budget.spend(start.step + (start.handedOver ?? 0), newTokens(this.usage));
    const { seconds } = agent.limits;
    this.#since = start.began ?? deps.now();
    if (seconds !== false) pulse.expireAt(this.#since + seconds * 1_000);
  }

  get start(): TurnStart {
    return this.#start;
  }

  get models(): readonly Model[] {
    return this.#models;
  }

  get model(): Model {
    return this.#line.model;
  }

  get key(): string {
    return this.#line.key;
  }

  get conversation(): Conversation {
    return this.#line.conversation;
  }

  get setup(): Setup {
    return this.#line.setup;
  }

  /** What every entry of this turn begins with, from this moment. */
  get made() {
    return { v: 1, origin: "runtime", at: this.deps.now(), turn: this.#start.turn } as const;
  }

  /** Milliseconds since the turn began, in all its attempts. */
  get ms(): number {
    return this.deps.now() - this.#since;
  }

  /** The failure of a turn that was ended in the middle of a step, since it took too long; null for any other. */
  expired(): Failure | null {
    return this.pulse.ended === "expired" ? overtime(this.request.agent.limits, this.ms) : null;
  }

  uses(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
    this.budget.spend(0, newTokens(usage));
  }

  /** What sub-sessions used, which the budget knows of already. */
  used(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
  }

  save(kind: AppendRequest["kind"], fields: Partial<AppendRequest> = {}): Promise<void> {
    return this.#line.journal.append(kind, this.step, fields);
  }

  /** Records a model call that led to no entry. */
  saveCall(call: CallRecord, fields: Pick<AppendRequest, "ends"> = {}): Promise<void> {
    this.#idle += 1;
    return this.save("call", { call, n: this.#idle, ...fields });
  }

  addResults(of: number, results: readonly ToolResult[]): void {
    this.conversation.add({ ...this.made, kind: "results", of, results });
  }

  /** The result of a call that is not run, told to whoever listens. */
  unrun(call: CallBlock, text: string, status: "interrupted" | "denied" = "interrupted"): ToolResult {
    const result = { ...interrupted(call, text), status };
    this.deps.sink.emit({ type: "result", id: call.id, name: call.name, status, text });
    return result;
  }

  /** Goes on with another of the models, as its chain stands in the session. Those before it are not asked any more. */
  async switchTo(model: Model): Promise<void> {
    const start = await this.#read(model, rerunOf(this.request.agent));
    this.#models = this.#models.slice(this.#models.indexOf(model));
    // What the request that failed may have carried counts as sent.
    const sentThrough = Math.max(this.conversation.sentThrough, start.sentThrough);
    this.#line = lineOf(this.deps, this.request, { ...start, sentThrough }, model);
  }

  /** Reads what the turn goes on from in the mode that it switched to, which may be another chain. */
  async goOnInMode(): Promise<void> {
    this.#start = await this.#read(this.model, []);
    this.#line = lineOf(this.deps, this.request, this.#start, this.model);
    this.reread = true;
  }

  async #read(model: Model, rerun: readonly string[]): Promise<TurnStart> {
    const asked: Pick<BeginRequest, "chain" | "rerun"> = { chain: askedChain(model), rerun };
    const start = await this.deps.session.reread(this.#start.fence, asked);
    if (start === null) throw lost();
    return start;
  }

  /** How it ends if it is cancelled. */
  get stopped(): TurnEnd & { readonly status: "stopped" } {
    const end = { status: "stopped", stop: "stopped" } as const;
    return this.pulse.left ? { ...end, left: true } : end;
  }

  /** Ends the turn as its caller wished. */
  async stop(fields: Partial<AppendRequest> = {}): Promise<void> {
    await this.save("finish", { ...fields, end: this.stopped });
    this.deps.sink.emit({ type: "done", stop: "stopped", usage: this.usage });
  }

  /** Ends the turn at a limit: what is there stays, and the caller reads why. */
  async fail(failure: Failure, fields: Partial<AppendRequest> = {}): Promise<never> {
    await this.save("finish", { ...fields, end: { status: "failed", failure } });
    throw new HoldfastError(failure);
  }

  /** Another isolate is to go on from here. */
  async handOver(fields: Partial<AppendRequest> = {}): Promise<void> {
    const { log } = this.deps.sink;
    await this.save("handover", { ...fields, told: { log: log.id, after: 0, events: log.all } });
    this.handedOver = true;
    this.deps.sink.close();
  }

  /** Gives the session back after a fault of ours. */
  giveUp(failure: Failure): Promise<void> {
    return this.#line.journal.giveUp(this.step, failure);
  }
}
