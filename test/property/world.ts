import { AGENT_MODE, toolCatalog } from "../../src/catalog/catalog.ts";
import { type SentMessage, storedMessages } from "../../src/context/align-history.ts";
import { userMessages } from "../../src/context/branch.ts";
import { toldEntries, uncompacted } from "../../src/context/effective.ts";
import type { Agent } from "../../src/define/types.ts";
import type { ModelEvent, Provider } from "../../src/providers/contract.ts";
import { SessionClient } from "../../src/session/client.ts";
import type { SessionApi } from "../../src/session/contract.ts";
import { nodeSession } from "../../src/testing/node-session.ts";
import { compactSession } from "../../src/turn/compact-session.ts";
import type { TurnDeps } from "../../src/turn/deps.ts";
import { plainRequest } from "../../src/turn/plain-request.ts";
import { runTurn } from "../../src/turn/run.ts";
import type { SubTurn, TurnRequest } from "../../src/turn/runtime.ts";
import { Sink } from "../../src/turn/sink.ts";
import { decodeEntry } from "../../src/values/entry.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import type { Cause, TurnEventBody, Verdict } from "../../src/values/turn-event.ts";
import { call, say } from "../emulators/common/answer.ts";
import { applyDeploy, canary, type Deployment, firstDeployment, modelOf, ringAgent, ringHelper } from "./agent.ts";
import { type Accepted, Checker } from "./checker.ts";
import {
  type Answering,
  type Copying,
  type Fault,
  type History,
  MOST,
  type Mode,
  type Model,
  PLAIN,
  type Planned,
  type Sessions,
  type SummaryFault,
  type Turn,
} from "./history.ts";
import { play, playSummary, summaryAsked } from "./player.ts";
import type { Met } from "./wire.ts";
import { type WireView, wireProblems } from "./wire-rules.ts";
import { modelIn, released, WIRE_NAMES, WIRES, type WireName, windowed, wireOf } from "./wires.ts";

const OWNER = { id: "ann", name: "Ann", roles: ["user"] };
const LEASE_SECONDS = 15;
/** What has OpenAI compact a context, as the last item of a request. */
const TRIGGER = '{"type":"compaction_trigger"}]}';
const INVALID = { reason: "provider", status: 400, type: "invalid_request_error" } as const;
const KEYS = {
  ANTHROPIC_API_KEY: "key",
  OPENAI_API_KEY: "key",
  CHAT_BASE_URL: "http://chat.test/v1",
  HOLDFAST_LEASE_SECONDS: String(LEASE_SECONDS),
};

/** Tools whose calls wait for an answer. */
const ASKING: ReadonlySet<string> = new Set(["ask", "submit_plan"]);

/** Breaks behind which a new baseline is recorded. */
const NEW_BASELINE: ReadonlySet<Cause> = new Set(["compaction", "fork_reset"]);

/** An isolate: dies when the history says so, and nothing it does after that reaches anybody. */
interface Isolate {
  dead: boolean;
  verdict: Verdict;
  /** The number of the user message that it answers, from 0, once it was asked. */
  message: number | null;
  /** Canaries of results that this isolate's next request must carry. */
  said: string[];
  /** What its last request loads in front of the model. */
  loads: readonly string[];
}

/** A session, and what its client and the checks know of it. */
interface Place {
  readonly session: SessionApi;
  readonly checker: Checker;
  /** Texts of results that every request must carry. */
  readonly expected: Set<string>;
  /** Names that something loaded. */
  readonly loaded: Set<string>;
  /** Its next request records a baseline. */
  fresh: boolean;
  lastText: string;
}

/**
 * A history played in one process: the real turn, the real session over Node's SQLite, the emulator's rules and cache.
 * Every request is checked as it goes out. `seen` collects what came up.
 */
export class World {
  readonly seen = new Set<string>();
  requests = 0;
  /** The first promise that was broken. */
  failure: Error | null = null;
  readonly #history: History;
  readonly #agent: Agent;
  readonly #helper: Agent;
  /** Sub-sessions, by their conversation. */
  readonly #subs = new Map<string, Place>();
  readonly #deployment: Deployment = firstDeployment();
  readonly #places: Place[] = [];
  #here: Place;
  /** A model of each API, by its name. */
  readonly #models = new Map(WIRE_NAMES.map((name) => [name, WIRES[name].local(() => this.#now)]));
  readonly #hung = new Set<string>();
  #now = 1_000_000;
  #ids = 0;
  #plan: Planned[] = [];
  #summaries: SummaryFault[] = [];
  /** The last request was too long, and no summary came of it yet. */
  #refusedForLength = false;
  #isolate: Isolate = freshIsolate();
  #api: WireName | null = null;
  /** The mode of the turn or compaction that runs, and the one that it began in. */
  #mode = "agent";
  #began: string | null = null;

  constructor(history: History) {
    this.#history = history;
    this.#helper = ringHelper("ring", history, () => this.#deployment);
    this.#agent = ringAgent(
      "ring",
      history,
      () => this.#deployment,
      (callId) => this.#hang(this.#isolate, callId),
      this.#helper,
    );
    this.#here = this.#place(new Checker());
  }

  #place(checker: Checker, of?: Place): Place {
    const place = this.#placed(checker, of);
    this.#places.push(place);
    return place;
  }

  #placed(checker: Checker, of?: Place): Place {
    const session = nodeSession({ now: () => this.#now });
    return {
      session: new SessionClient({ getByName: () => session }, "ring"),
      checker,
      expected: new Set<string>(),
      loaded: new Set(of?.loaded),
      fresh: of === undefined,
      lastText: of?.lastText ?? "",
    };
  }

  async play(): Promise<void> {
    const { turns, least } = this.#history;
    let index = 0;
    for (; index < turns.length && this.requests < MOST - 5; index += 1) await this.#turn(turns[index] ?? PLAIN, index);
    for (; this.requests < least && this.failure === null; index += 1) await this.#turn(PLAIN, index);
    await this.#count();
  }

  /** Copies the session, deletes it, or goes on with another. */
  async #sessions(change: Sessions): Promise<void> {
    this.seen.add(`session ${change.kind}`);
    switch (change.kind) {
      case "clone":
      case "fork":
        await this.#copy(change);
        break;
      case "delete":
        if (this.#places.length === 1) return;
        await this.#delete();
        break;
      case "switch":
        break;
    }
    this.#here = this.#places[change.to % this.#places.length] ?? this.#here;
  }

  /** A copy is a session of its own: what it takes is checked here, its requests as any other's. */
  async #copy(copying: Copying): Promise<void> {
    const { session, checker, expected } = this.#here;
    const messages = userMessages(toldEntries(await this.#entries())).length;
    const at = copying.kind === "clone" ? null : messages - copying.back;
    const answer = await session.branch({ v: 1, at, of: "fork" });
    if (answer === null || answer.kind === "outside") {
      if (at !== null && at < 0) return;
      throw this.#broken(`no copy at ${at} of ${messages} messages`);
    }
    const { branch } = answer;
    const taken = branch.entries.map(([seq, text]) => ({ seq, entry: decodeEntry(text) }));
    const left = userMessages(toldEntries(taken)).length;
    if (at !== null && left !== at) throw this.#broken(`a fork at ${at} has ${left} messages`);
    const ended = (chain: string) => branch.chains.find(({ key }) => key === `ring-${chain}`)?.ended ?? null;
    const place = this.#place(checker.copy(left, ended), this.#here);
    if (at === null) for (const said of expected) place.expected.add(said);
    place.fresh = branch.chains.some((chain) => chain.ended === "fork_reset");
    if (place.fresh) this.seen.add("copy cold");
    else if (branch.chains.some(({ calls }) => calls.length > 0)) this.seen.add("copy warm");
    await place.session.adopt({ owner: OWNER.id, agent: "ring", conversation: `ring-${this.#places.length}` }, branch);
  }

  /** A session that is deleted is gone: nothing is read, begun or appended any more. */
  async #delete(): Promise<void> {
    const { session } = this.#here;
    const there = await session.summary();
    const removed = await session.remove();
    if (removed !== (there !== null)) throw this.#broken("a session was not there to be deleted");
    const left = [
      await session.summary(),
      await session.entries(0, 10),
      await session.branch({ v: 1, at: null, of: "export" }),
    ];
    if (left.some((one) => one !== null) || (await session.remove())) throw this.#broken("a deleted session is there");
    this.#places.splice(this.#places.indexOf(this.#here), 1);
  }

  async #turn(turn: Turn, index: number): Promise<void> {
    for (const change of turn.sessions) if (index > 0) await this.#sessions(change);
    for (const deploy of turn.deploy) {
      applyDeploy(this.#deployment, deploy);
      this.seen.add(`deploy ${deploy.kind}`);
      for (const { checker } of this.#places) {
        if (deploy.kind === "renderer") checker.allow("renderer");
        if (deploy.kind === "revise") checker.allow("revoked");
        // The message it speaks for may be told anew behind it.
        if (deploy.kind === "instructions" && this.#history.textual && turn.client !== "message")
          checker.allow("rewind");
      }
    }
    this.#summaries = [...turn.summaries];
    this.#isolate = freshIsolate();
    if (turn.compact && index > 0) await this.#compact(this.#isolate);
    if (this.#isolate.dead) this.#isolate = freshIsolate();
    if (turn.pauses !== null) await this.#answerPauses(turn.pauses, index);
    if (turn.mode !== null) await this.#toMode(turn.mode);
    const { sent, text } = await this.#client(turn, index);
    this.#here.lastText = text;
    const clientSystem = turn.system === null ? null : `System text ${turn.system}.`;
    await this.#run(turn.answers, index, text, { sent, clientSystem });
  }

  /** Answers what waits, and goes on with the turn. */
  async #answerPauses({ approve, answers }: Answering, index: number): Promise<void> {
    const { session } = this.#here;
    const pauses = (await session.pauses()) ?? [];
    const mode = (await session.summary())?.mode;
    const expected = approve && pauses.some(({ kind }) => kind === "plan") ? AGENT_MODE : mode;
    for (const { id, kind } of pauses) {
      const decided = approve
        ? ({ decision: "approve" } as const)
        : ({ decision: "deny", reason: `No ${id}.` } as const);
      const answer =
        kind === "question" ? ({ kind, answer: `Answer ${id}.` } as const) : ({ kind, ...decided } as const);
      const outcome = await session.answer(id, answer);
      if (outcome?.kind !== "answered") throw this.#broken(`an answer to a pause is ${JSON.stringify(outcome)}`);
      if (answer.kind === "question") this.#here.expected.add(answer.answer);
      this.seen.add(kind === "question" ? "pause answered" : `plan ${decided.decision}`);
      if (!outcome.goesOn) continue;
      this.#began = null;
      await this.#run(answers, index, "", { goOn: true });
      if (this.#began !== null && this.#began !== expected) {
        throw this.#broken(`a turn goes on in the mode ${this.#began}, and not in ${expected}`);
      }
    }
  }

  async #toMode(mode: Mode): Promise<void> {
    const outcome = await this.#here.session.patch({ v: 1, mode });
    if (outcome?.kind === "ok") this.seen.add(`mode ${mode}`);
  }

  /** A turn in an isolate of its own. */
  async #run(
    answers: readonly Planned[],
    index: number,
    text: string,
    asked: Pick<Partial<TurnRequest>, "sent" | "clientSystem" | "goOn">,
  ): Promise<void> {
    this.#plan = [...answers];
    this.#isolate = freshIsolate();
    const isolate = this.#isolate;
    const world = this;
    class Tap extends Sink {
      override emit(event: TurnEventBody): void {
        world.#tell(event);
        super.emit(event);
      }
    }
    const sink = new Tap("turn");
    const agent = this.#agent;
    const deps: TurnDeps = {
      runtime: { agents: [agent], provider: (name) => this.#provider(isolate, name) },
      env: KEYS as unknown as Cloudflare.Env,
      session: this.#living(isolate),
      quotas: null,
      sink,
      now: () => this.#now,
      mintId: () => this.#mint(),
      subSessions: { run: (sub) => this.#sub(isolate, sub), stop: async () => false },
      log: () => {},
    };
    const conversation = { id: "ring", minted: true };
    const request: TurnRequest = {
      ...plainRequest({ agent, owner: OWNER, conversation, requestId: "ring" }, [{ type: "text", text }]),
      ...asked,
    };
    await runTurn(deps, request, `turn_${this.#mint()}`);
    if (this.#refusedForLength) {
      this.#refusedForLength = false;
      this.#here.checker.allow("rewind");
      this.#here.expected.clear();
    }
    if (isolate.dead) this.#now += LEASE_SECONDS * 1000 + 1;
    for await (const event of sink) {
      if (event.type === "failed" && !isolate.dead && event.failure.reason !== "provider") {
        throw new Error(
          `turn ${index} failed: ${event.failure.reason}: ${event.failure.detail ?? event.failure.message}`,
        );
      }
    }
  }

  #living(isolate: Isolate): SessionApi {
    const { session, loaded } = this.#here;
    return living(session, isolate, (mode) => {
      this.#mode = mode;
      this.#began ??= mode;
      // What a mode makes core needs no search there.
      for (const { spec } of toolCatalog(this.#agent, mode).core) loaded.add(spec.name);
    });
  }

  /** Somebody asks for a compaction, which may fail as a turn may. */
  async #compact(isolate: Isolate): Promise<void> {
    const agent = this.#agent;
    const host = {
      runtime: { agents: [agent], provider: (name: string) => this.#provider(isolate, name) },
      sessions: () => this.#living(isolate),
      log: () => {},
    };
    const asked = { agent, owner: OWNER, requestId: "ring", conversation: "ring" };
    this.seen.add("compaction asked");
    try {
      await compactSession(host, KEYS as unknown as Cloudflare.Env, { waitUntil: () => {} }, asked);
    } catch (error) {
      if (this.failure !== null) return;
      if (!(error instanceof HoldfastError)) throw error;
      const { reason, message } = error.failure;
      if (!["provider", "busy", "lost"].includes(reason)) throw new Error(`a compaction failed: ${reason}: ${message}`);
    }
  }

  /** What came up, for the ring's statistics. */
  async #count(): Promise<void> {
    if (this.#history.thinking) this.seen.add("thinking");
    for (const { entry } of (await Promise.all(this.#places.map((place) => this.#entries(place)))).flat()) {
      if (entry.kind === "mode_change" && entry.origin === "runtime") this.seen.add(`switch to ${entry.mode}`);
      if (entry.kind === "pause") this.seen.add("pause");
      if (
        entry.kind === "results" &&
        entry.results.some(({ name, status }) => name === "transfer_task" && status === "ok")
      )
        this.seen.add("sub-session");
      if (entry.kind === "results" && entry.results.some(({ status }) => status === "denied")) this.seen.add("denied");
      if (entry.kind === "host_search") this.seen.add(`host search ${entry.place.at}`);
      if (entry.kind === "system_update" && entry.origin === "runtime") {
        this.seen.add(entry.withdraws ? "instructions withdrawn" : "instructions changed");
      }
      if (entry.kind === "compaction") {
        this.seen.add(`compaction ${entry.why}`);
        if (entry.carriedToolNames.length > 0) this.seen.add("carried tools");
      }
      if (entry.kind !== "results") continue;
      if (entry.results.length > 10) this.seen.add("wide batch");
      if (entry.results.every(({ status }) => status !== "ok")) this.seen.add("batch that failed");
    }
  }

  #mint(): string {
    this.#ids += 1;
    return this.#ids.toString(16).padStart(24, "0");
  }

  /** What the client sends: its messages where it shows its history, else only the new one. */
  async #client(turn: Turn, index: number): Promise<{ sent: SentMessage[] | null; text: string }> {
    const fresh = `Message ${index}.`;
    this.seen.add(`client ${turn.client}`);
    if (turn.system !== null) {
      if (turn.client !== "message") this.#here.checker.rewound(Math.max(0, await this.#message()));
      this.seen.add("client system");
      // The message it speaks for may be told anew behind it.
      this.#here.checker.allow("rewind");
    }
    if (index === 0 || turn.client === "message") return { sent: null, text: fresh };
    if (turn.client === "again") return { sent: null, text: this.#here.lastText };
    const stored = storedMessages(uncompacted(await this.#entries()));
    const users = stored.flatMap(({ role }, at) => (role === "user" ? [at] : []));
    const last = users[Math.max(0, users.length - 1 - turn.back)];
    this.#here.checker.rewound(Math.max(0, users.length - 1 - turn.back));
    if (last === undefined) return { sent: null, text: fresh };
    const before = stored.slice(0, last).map(({ role, text }) => ({ role, text }));
    const text = turn.client === "edit" ? `${fresh} Edited.` : (stored[last]?.text ?? fresh);
    this.#here.checker.allow("rewind");
    this.#here.expected.clear();
    return { sent: [...before, { role: "user", text }], text };
  }

  async #entries({ session } = this.#here) {
    const all = await session.entries(0, 100_000);
    return (all?.entries ?? []).map(([seq, text]) => ({ seq, entry: decodeEntry(text) }));
  }

  #tell(event: TurnEventBody): void {
    if (event.type === "request") this.#isolate.verdict = event.verdict;
    if (event.type !== "result") return;
    const { id, name, status, text } = event;
    if (text.includes("canary-")) this.#isolate.said.push(canary(id));
    const allowed = toolCatalog(this.#agent, this.#mode).allowed(name);
    // What somebody was asked is answered in whatever mode they are in by then.
    if (!allowed && status === "ok" && !ASKING.has(name)) throw this.#broken(`${name} ran in the mode ${this.#mode}`);
    // What another mode made core is declared from then on, and in this one nothing speaks for it.
    const core = Object.values(this.#agent.modes).some(({ core = [] }) => core.includes(name));
    if (allowed && !core && this.#isolate.loads.includes(name) && text.includes(" is not loaded."))
      throw this.#broken(`${name} is loaded and can't be called in the mode ${this.#mode}`);
  }

  #kill(isolate: Isolate, fault: Fault): never {
    isolate.dead = true;
    this.seen.add(`fault ${fault}`);
    throw new HoldfastError({ reason: "lost", message: "This isolate is dead." });
  }

  async #hang(isolate: Isolate, callId: string): Promise<string> {
    if (!this.#hung.has(callId)) {
      this.#hung.add(callId);
      this.#kill(isolate, "dead_in_tool");
    }
    return `Went on. ${canary(callId)}`;
  }

  #provider(isolate: Isolate, name: string): Provider | undefined {
    const api = WIRE_NAMES.find((one) => name === `ring-${one}`);
    if (api === undefined) return undefined;
    const own = released(WIRES[api].provider, () => this.#deployment.renderer);
    return {
      ...windowed(own, () => this.#history.window),
      stream: (_, body) => this.#answer(isolate, api, body),
    };
  }

  async *#answer(isolate: Isolate, api: WireName, bodyText: string): AsyncGenerator<ModelEvent> {
    if (summaryAsked(bodyText) !== null || bodyText.includes(TRIGGER)) {
      yield* this.#summary(isolate, api, modelIn(api, bodyText), bodyText);
      return;
    }
    const planned = this.#plan.shift() ?? null;
    for (const { kind } of planned?.calls ?? []) this.seen.add(`call ${kind}`);
    const fault = planned?.fault ?? null;
    if (fault === "dead_before_send") this.#kill(isolate, fault);
    this.requests += 1;
    const met = this.#meet(api, bodyText);
    for (const said of isolate.said.splice(0)) this.#here.expected.add(said);
    const missing = [...this.#here.expected].filter((said) => !bodyText.includes(said));
    if (missing.length > 0) throw this.#broken(`what a tool said is missing: ${missing.join(", ")}`);
    isolate.message ??= await this.#message();
    const model = modelIn(api, bodyText);
    if (model !== modelOf(this.#history.model, this.#deployment)) this.seen.add("fallback");
    this.#check(met, model, bodyText, isolate.verdict, isolate.message);
    if (met.kind === "refused") return;
    this.#note(bodyText, isolate.verdict);
    if (planned?.copied) {
      this.seen.add(`${planned.copied.kind} in mid-turn`);
      await this.#copy(planned.copied);
    }
    if (fault === "dead_before_headers") this.#kill(isolate, fault);
    if (fault === "refused") {
      this.seen.add("fault refused");
      throw new HoldfastError({ reason: "provider", status: 500, type: "api_error", message: "Broken." });
    }
    if (fault === "too_long") {
      this.seen.add("fault too_long");
      // If no shorter context comes of it, it is taken back as anything that the provider refuses.
      this.#refusedForLength = true;
      throw new HoldfastError({ ...INVALID, message: "prompt is too long: 210000 tokens > 200000 maximum" });
    }
    if (fault === "rejected") {
      this.seen.add("fault rejected");
      this.#here.checker.allow("rewind");
      this.#here.expected.clear();
      throw new HoldfastError({ ...INVALID, message: "messages.0: image is too large" });
    }
    const compacts = planned?.compacts ? met.compacted : undefined;
    const answered = compacts?.() ?? met.answer(play(this.#history, planned, met.visible, this.requests));
    this.#here.checker.begun(fault !== "dead_in_stream", this.#now);
    const broken = fault === "cut" || fault === "dead_in_stream";
    if (fault === "cut") this.seen.add("fault cut");
    const until = broken ? 1 + (this.requests % Math.max(1, answered.length - 2)) : answered.length;
    try {
      yield* answered.read(until);
    } finally {
      if (fault === "dead_in_stream") this.#kill(isolate, fault);
    }
    if (compacts !== undefined && !broken) this.#compacted(isolate);
  }

  #meet(api: WireName, body: string): Met {
    const model = this.#models.get(api);
    if (model === undefined) throw new Error(`no model of ${api}`);
    if (this.#api !== null && this.#api !== api) this.seen.add("other API");
    this.#api = api;
    return model(body);
  }

  /** The number of the user message that is being answered. */
  async #message(): Promise<number> {
    return userMessages(toldEntries(await this.#entries())).length - 1;
  }

  async *#summary(isolate: Isolate, api: WireName, asked: Model, body: string): AsyncGenerator<ModelEvent> {
    this.requests += 1;
    const met = this.#meet(api, body);
    const again = summaryAsked(body) === "again";
    this.#guard(() => {
      this.#here.checker.checkAside(this.#chainOf(asked), this.#accepted(met, asked, body, 0, null), again);
    });
    if (met.kind === "refused") return;
    const fault = again ? "none" : (this.#summaries.shift() ?? "none");
    this.seen.add(`summary ${fault}`);
    if (fault === "refused") throw new HoldfastError({ ...INVALID, status: 500, message: "Broken." });
    const trigger = body.includes(TRIGGER);
    if (trigger) this.seen.add(`trigger ${fault}`);
    const answered = trigger && met.compacted ? met.compacted() : met.answer(playSummary(fault, this.requests));
    const until = fault === "cut" || fault === "dead_in_stream" ? 3 : answered.length;
    try {
      yield* answered.read(Math.min(until, answered.length));
    } finally {
      if (fault === "dead_in_stream") this.#kill(isolate, fault);
    }
    if (fault === "none") this.#compacted(isolate);
  }

  #compacted(isolate: Isolate): void {
    this.#here.checker.allow("compaction");
    this.#here.fresh = true;
    this.#refusedForLength = false;
    // What tools said may be part of the summary now.
    this.#here.expected.clear();
    isolate.said = [];
  }

  /** The chain of a request: where a mode can only withhold a tool by leaving it out, it has a chain of its own. */
  #chainOf(model: Model): string {
    const { toolChanges } = wireOf(model).provider.facts(model.split("/")[1] ?? "");
    return toolChanges ? model : `${model}#${this.#mode}`;
  }

  #check(met: Met, model: Model, body: string, verdict: Verdict, message: number): void {
    this.#guard(() => {
      this.#here.checker.check(
        this.#chainOf(model),
        this.#accepted(met, model, body, message, verdict),
        verdict,
        this.#now,
      );
    });
  }

  #accepted(met: Met, model: Model, body: string, message: number, verdict: Verdict | null): Accepted {
    if (met.kind === "refused") {
      const { rule, message } = met.failure;
      throw new Error(`refused by ${rule}: ${message}`);
    }
    const wire = wireOf(model);
    this.seen.add(`model ${model}`);
    const facts = wire.provider.facts(model.split("/")[1] ?? "");
    const { allowed } = toolCatalog(this.#agent, this.#mode);
    // A baseline has all that the history speaks of. What a rewind brings back from before it is declared where it is
    // allowed; where it is forbidden it comes back with the mode (design §3.3).
    const begins = verdict?.prefix === "first" || (verdict?.prefix === "break" && NEW_BASELINE.has(verdict.cause));
    const baseline = begins && this.#here.fresh;
    if (verdict !== null) this.#here.fresh = false;
    const shown = this.#deployed().filter((name) => allowed(name) || (facts.toolChanges && baseline));
    const view = wire.view(body);
    const problems = wireProblems(view, shown, this.#here.loaded);
    if (verdict !== null) this.#isolate.loads = view.loads;
    // Elsewhere what was loaded stays in sight, and the gate refuses it.
    if (wire === WIRES.anthropic) problems.push(...this.#outOfMode(view, met.visible, allowed));
    return {
      layout: wire.layout(body),
      problems: [...met.flags, ...wire.problems(body), ...problems],
      readTokens: met.read,
      idealTokens: met.ideal,
      reach: met.reach,
      // Where the provider drops thinking with the next message, it can't read all that it wrote.
      copied: { cached: facts.dropsThinking ? 0 : met.cached, message },
      inlineOnly: !facts.deferral,
    };
  }

  #outOfMode(view: WireView, visible: readonly string[], allowed: (name: string) => boolean): string[] {
    const mode = `in sight in the mode ${this.#mode}`;
    return [
      ...visible.flatMap((name) => (allowed(name) ? [] : [`${name} is ${mode}`])),
      ...view.declared.flatMap(({ name }) =>
        allowed(name) && !visible.includes(name) ? [`${name} is not ${mode}`] : [],
      ),
    ];
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      throw this.#broken(error instanceof Error ? error.message : String(error));
    }
  }

  /**
   * The turn of a sub-session, in the isolate of its parent's: it loads a tool and uses it, and each of its requests is
   * checked as any other.
   */
  #sub(isolate: Isolate, request: TurnRequest): SubTurn {
    const { id } = request.conversation;
    const place = this.#subs.get(id) ?? this.#placed(new Checker());
    this.#subs.set(id, place);
    const [wanted = ""] = /lazy_\d/.exec(JSON.stringify(request.user.content)) ?? [];
    const world = this;
    const own: Isolate = freshIsolate();
    class Tap extends Sink {
      override emit(event: TurnEventBody): void {
        if (event.type === "request") own.verdict = event.verdict;
        if (event.type === "failed" && !isolate.dead && event.failure.reason !== "provider")
          world.#broken(`a sub-session failed: ${event.failure.detail ?? event.failure.message}`);
        super.emit(event);
      }
    }
    const sink = new Tap("sub");
    const deps: TurnDeps = {
      runtime: { agents: [this.#helper], provider: (name) => this.#subProvider(isolate, name, place, own, wanted) },
      env: KEYS as unknown as Cloudflare.Env,
      session: living(place.session, isolate, () => {}),
      quotas: null,
      sink,
      now: () => this.#now,
      mintId: () => this.#mint(),
      log: () => {},
    };
    return { events: sink, over: runTurn(deps, request, `turn_${this.#mint()}`) };
  }

  #subProvider(isolate: Isolate, name: string, place: Place, own: Isolate, wanted: string): Provider | undefined {
    const api = WIRE_NAMES.find((one) => name === `ring-${one}`);
    if (api === undefined) return undefined;
    const world = this;
    return {
      ...WIRES[api].provider,
      async *stream(_, body) {
        if (isolate.dead) throw new HoldfastError({ reason: "lost", message: "This isolate is dead." });
        const wire = WIRES[api];
        const met = world.#meet(api, body);
        const model = modelIn(api, body);
        world.#guard(() => {
          if (met.kind === "refused") throw new Error(`a sub-session is refused by ${met.failure.rule}`);
          const { deferral } = wire.provider.facts(model.split("/")[1] ?? "");
          const problems = wireProblems(
            wire.view(body),
            world.#helper.tools.map(({ spec }) => spec.name),
            place.loaded,
          );
          const accepted = {
            layout: wire.layout(body),
            problems: [...met.flags, ...wire.problems(body), ...problems],
            readTokens: met.read,
            idealTokens: met.ideal,
            inlineOnly: !deferral,
          };
          place.checker.check(model, accepted, own.verdict);
        });
        if (met.kind === "refused") return;
        place.checker.begun(true);
        const done = wire.view(body).calls.size >= 2;
        const next = met.visible.includes(wanted)
          ? call(wanted, { text: "x" })
          : call("tool_search", { query: wanted });
        const answered = met.answer([done ? say("Done.") : next]);
        yield* answered.read(answered.length);
      },
    };
  }

  #deployed(): string[] {
    return this.#agent.tools.map(({ spec }) => spec.name);
  }

  #broken(what: string): Error {
    this.failure ??= new Error(`request ${this.requests}: ${what}`);
    return this.failure;
  }

  #note(body: string, verdict: Verdict): void {
    if (verdict.prefix === "break") this.seen.add(`break ${verdict.cause}`);
    if (body.includes('"hfl_')) this.seen.add("companion");
    if (body.includes("tool_reference")) this.seen.add("references");
    if (body.includes('"tool_search_output"')) this.seen.add("search output");
    if (body.includes('"name":"call_tool","arguments":"{')) this.seen.add("bridged call");
    if (body.includes('"additional_tools"')) this.seen.add("additional tools");
  }
}

function freshIsolate(): Isolate {
  return { dead: false, verdict: { prefix: "first" }, message: null, said: [], loads: [] };
}

/** The session as a living isolate reaches it; a dead one reaches nothing. `inMode` is told of what a turn or a compaction starts from. */
function living(session: SessionApi, isolate: Isolate, inMode: (mode: string) => void): SessionApi {
  return new Proxy(session, {
    get(target, method: keyof SessionApi) {
      return async (...args: unknown[]) => {
        if (isolate.dead) throw new HoldfastError({ reason: "lost", message: "This isolate is dead." });
        const answer: unknown = await Reflect.apply(target[method], target, args);
        const starts = ["begin", "reread", "resume", "snapshot"].includes(method);
        if (starts && typeof answer === "object" && answer !== null && "mode" in answer) inMode(String(answer.mode));
        return answer;
      };
    },
  });
}
