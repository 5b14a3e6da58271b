import { destroyAt, parkAt } from "../emulators/common/answer.ts";
import type { Exchange } from "../emulators/common/exchange.ts";
import { createParking } from "../emulators/common/parking.ts";
import { applyDeploy, type Deployment, firstDeployment } from "./deployment.ts";
import {
  type Copying,
  type Fault,
  type History,
  LAZY,
  MOST,
  PLAIN,
  type Planned,
  type SummaryFault,
  type Turn,
} from "./history.ts";
import { play, playSummary, summaryAsked } from "./player.ts";
import { toolName } from "./tools.ts";
import { type Fate, madeOf } from "./workerd-made.ts";
import type { Asked, Deed } from "./workerd-models.ts";
import { Place, type Said } from "./workerd-place.ts";
import { deathOf, steered } from "./workerd-steering.ts";
import { Tasks } from "./workerd-tasks.ts";

/** How many turns are followed by another process, and how often a client does not wait for a turn that died to end. */
const RESTS = 1 / 3;
const IMPATIENT = 1 / 4;
/** After so many processes a history has its own deaths alone, lest one of them keeps all others waiting. */
const PROCESSES = 8;
/** A lease that ran out beneath a turn which is about to be killed leaves open what is heard before and after. */
const UNSURE = 2;
/** So much of what happened is told with a failure. */
const TRAIL = 25;
/** How many isolates that store an answer to a pause die before the turn goes on. */
const FORGETS = 1 / 4;
/** Of how many requests somebody tries to change the mode while they are out. */
const PATCHES = 1 / 50;

/** What is done to a session while a request of it is out. */
export interface Meanwhile {
  /** Copies it. Answers what is to be done once that request was checked. */
  copy(journey: Journey, copying: Copying): Promise<() => void>;
  /** Tries to change its mode; null where leases are too short for that. */
  readonly patch: ((journey: Journey) => Promise<void>) | null;
}

/** One history on its way: its sessions, and what its client and its model do in them. */
export class Journey {
  readonly name: string;
  readonly history: History;
  readonly deployment: Deployment = firstDeployment();
  readonly places: Place[] = [new Place("ring")];
  here: Place = this.#first;
  /** What came up, and how often. */
  readonly seen = new Map<string, number>();
  /** The same in order, with its requests: what a failure tells of what led to it. */
  readonly trail: string[] = [];
  requests = 0;
  failure: string | null = null;
  /** What is left to be done of the turn; null between two turns. */
  turn: Turn | null = null;
  /** Something went wrong in the turn, so that it may fail. */
  faulted = false;
  /** What failed of it, and why. */
  why: string | null = null;
  /** The turn after this one is for another process. */
  rests = false;
  /** Should this turn die, the client says something more while it goes on. */
  impatient = false;
  /** The isolate that stores an answer to a pause dies before the turn goes on. */
  forgets = false;
  /** An answer was taken, and it was said that the turn goes on with it. */
  goesOn = false;
  /** So many times yet it is not known what its session heard, since a lease ran out beneath it. */
  unsure = 0;
  /** Its client reads what came of the answer that it gave. */
  reads = false;
  /** Resolved when its isolate is to die. */
  parked = Promise.withResolvers<void>();
  isParked = false;
  #plan: Planned[] = [];
  #summaries: SummaryFault[] = [];
  #turn = 0;
  #deployed = 0;
  #processes = 0;
  readonly #hung = new Set<string>();
  readonly tasks: Tasks;

  readonly random: () => number;
  readonly #meanwhile: Meanwhile;

  constructor(name: string, drawn: History, random: () => number, meanwhile: Meanwhile) {
    this.name = name;
    this.history = drawn;
    this.random = random;
    this.#meanwhile = meanwhile;
    this.tasks = new Tasks(
      // Without a runner nobody goes on with a sub-session that died.
      () => (meanwhile.patch === null ? null : deathOf(random)),
      (fault) => this.parks(fault),
    );
  }

  get #first(): Place {
    const [first] = this.places;
    if (first === undefined) throw new Error("a history without a session");
    return first;
  }

  get over(): boolean {
    const { turns, least } = this.history;
    const played = this.#turn >= turns.length && this.turn === null;
    return this.failure !== null || (played && this.requests >= least) || this.requests > MOST - 5;
  }

  saw(what: string): void {
    this.trail.push(what);
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  fails(why: unknown): void {
    const what = why instanceof Error ? why.message : why;
    this.failure ??= `${this.name}, request ${this.requests}: ${what} (after: ${this.trail.slice(-TRAIL).join("; ")})`;
  }

  /** Another process runs: nothing is held any more. `runner`: what died goes on by itself. */
  revive(runner: boolean): void {
    this.parked = Promise.withResolvers<void>();
    this.isParked = false;
    this.tasks.revive(runner);
    this.#processes += 1;
    for (const place of this.places) place.revive();
  }

  /** Prepares the next turn. */
  next(): void {
    this.deploy();
    const calm = this.#processes >= PROCESSES;
    this.turn = steered(this.history.turns[this.#turn] ?? PLAIN, this.here.mode, calm, this.random);
    this.#turn += 1;
    this.#summaries = [...this.turn.summaries];
    this.faulted = false;
    this.why = null;
    this.rests = !calm && this.random() < RESTS;
    this.impatient = this.random() < IMPATIENT;
    this.forgets = this.random() < FORGETS;
  }

  /** What the model answers from here on. */
  plan(answers: readonly Planned[]): void {
    this.#plan = [...answers];
  }

  /** What is deployed before the next turn; once, though a turn that died may have gone on with it. */
  deploy(): void {
    if (this.#deployed > this.#turn) return;
    this.#deployed = this.#turn + 1;
    for (const deploy of this.history.turns[this.#turn]?.deploy ?? []) {
      applyDeploy(this.deployment, deploy);
      for (const { checker } of this.places) {
        if (deploy.kind === "renderer") checker.allow("renderer");
        if (deploy.kind === "revise") checker.allow("revoked");
      }
      if (deploy.kind === "renderer") this.tasks.allow("renderer");
    }
  }

  /** The messages that the client sends. */
  messages({ client, back, system }: Turn): Said[] {
    const { said } = this.here;
    const fresh = { role: "user", content: `Message ${this.#turn}.` };
    const users = said.flatMap(({ role }, at) => (role === "user" ? [at] : []));
    const last = users[Math.max(0, users.length - 1 - back)] ?? -1;
    const before = said[last];
    const first = system === null ? [] : [{ role: "system", content: `System text ${system}.` }];
    if (client === "message" || before === undefined) return [...first, fresh];
    if (client === "again") return [...first, before];
    const asked = client === "edit" ? { role: "user", content: `${fresh.content} Edited.` } : before;
    return [...first, ...said.slice(0, last), asked];
  }

  heard(all: readonly Said[], answer: string | null): void {
    const { said } = this.here;
    const messages = all.filter(({ role }) => role !== "system");
    if (messages.length > 1) said.length = messages.length - 1;
    said.push(...messages.slice(-1));
    if (answer) said.push({ role: "assistant", content: answer });
  }

  /** The worker is about to send a request. Resolves when it may. */
  async send(): Promise<void> {
    if (this.#plan[0]?.fault !== "dead_before_send") return;
    this.#plan.shift();
    await this.#park("dead_before_send");
  }

  /** The worker's tool `hang` or `once` runs. Resolves with what it says. */
  async hang(callId: string): Promise<string> {
    if (!this.#hung.has(callId)) {
      this.#hung.add(callId);
      await this.#park("dead_in_tool");
    }
    return "Went on.";
  }

  /** An answer to a pause was stored, and its isolate is about to go on. Resolves when it may. */
  async answered(): Promise<string> {
    if (this.forgets) {
      this.forgets = false;
      await this.#park("dead_after_answer");
    }
    return "";
  }

  #park(fault: string): Promise<void> {
    this.parks(fault);
    return new Promise<void>(() => {});
  }

  /** An isolate of it is to die. */
  parks(fault: string): void {
    this.faulted = true;
    this.isParked = true;
    this.saw(`parked ${fault}`);
    this.parked.resolve();
  }

  /** What the model answers, and where the answer is held or broken. */
  answer(asked: Asked): Deed {
    this.requests += 1;
    const aside = summaryAsked(asked.bodyText);
    if (aside !== null) return this.#summary(asked, aside);
    if (this.tasks.left(this.here)) this.unsure = UNSURE;
    const planned = this.#plan.shift() ?? null;
    const fault = planned?.fault ?? null;
    if (fault !== null) this.faulted = true;
    if (fault === "refused" || fault === "rejected" || fault === "too_long") {
      this.saw(fault);
      this.#made(asked, { aside: null, lost: false, whole: false });
      return { kind: "fail", how: fault === "refused" ? "broken" : fault };
    }
    const lost = fault === "dead_before_headers" || fault === "dead_in_stream";
    this.#made(asked, { aside: null, lost, whole: !lost && fault !== "cut" });
    for (const one of planned?.calls ?? []) {
      if (one.kind === "install") applyDeploy(this.deployment, { kind: "add", tool: one.tool });
    }
    this.trail.push(`${asked.api} ${this.requests}: ${planned?.calls.map(({ kind }) => kind)} ${fault ?? ""}`);
    // Where a mode only refuses it, a task is never handed over: then nobody has to wait for it.
    const refused = (this.here.patched.at(-1) ?? this.here.mode) === "careful";
    const visible = asked.visible.filter((name) => name !== "transfer_task" || !refused);
    const parts = play(this.name, this.history, planned, visible, this.requests);
    const { here } = this;
    const { patch } = this.#meanwhile;
    if (fault === null || fault === "dead_in_tool") this.tasks.handed(parts, here);
    if (planned?.copied && fault !== "dead_before_headers") parts.push(this.#copies(planned.copied));
    else if (patch !== null && fault === null && this.random() < PATCHES) parts.push(this.#out(() => patch(this)));
    if (fault !== "dead_before_headers") here.after(() => here.checker.begun(fault !== "dead_in_stream"));
    // The shortest answer has four events, the last of which tells its reader that it is whole.
    const at = 2 + (this.requests % 2);
    if (fault === "cut") parts.push(destroyAt(at));
    if (fault === "dead_before_headers" || fault === "dead_in_stream") {
      parts.push(this.#held(fault, fault === "dead_before_headers" ? "headers" : at));
    }
    return { kind: "answer", parts };
  }

  /** As {@link answer}, of what works on a task. */
  answerTask(asked: Asked): Deed {
    try {
      return this.tasks.answer(asked);
    } catch (error) {
      this.fails(error);
      return { kind: "fail", how: "rejected" };
    }
  }

  /** A sub-session begins. */
  begins(task: string, conversation: string): void {
    try {
      this.tasks.began(task, conversation);
    } catch (error) {
      this.fails(error);
    }
  }

  #summary(asked: Asked, aside: "first" | "again"): Deed {
    const fault = aside === "again" ? "none" : (this.#summaries.shift() ?? "none");
    this.saw(`summary ${fault}`);
    if (fault === "refused" || fault === "cut") this.faulted = true;
    const lost = fault === "dead_in_stream";
    this.#made(asked, { aside, lost, whole: fault === "none" || fault === "calls" });
    if (fault === "refused") return { kind: "fail", how: "broken" };
    const { here } = this;
    if (fault === "none") here.after(() => here.compacted());
    const parts = playSummary(fault, this.requests);
    if (fault === "cut") parts.push(destroyAt(2));
    if (lost) parts.push(this.#held(fault, 2));
    return { kind: "answer", parts };
  }

  #held(fault: Fault, at: "headers" | number) {
    const parking = createParking<Exchange>();
    parking.parked.then(() => this.parks(fault));
    return parkAt(at, parking);
  }

  #copies(copying: Copying) {
    let copied = () => {};
    this.here.after(() => copied());
    this.saw(`${copying.kind} in mid-turn`);
    return this.#out(async () => {
      copied = await this.#meanwhile.copy(this, copying);
    });
  }

  /** The request is out until that is done. */
  #out(act: () => Promise<void>) {
    const parking = createParking<Exchange>();
    parking.parked
      .then(act)
      .catch((error) => this.fails(error))
      .finally(() => parking.release());
    return parkAt("headers", parking);
  }

  #made(asked: Asked, fate: Fate): void {
    this.here.made(madeOf(asked, fate, this.#tools(), this.here.loaded));
  }

  #tools(): string[] {
    const { late, gone } = this.deployment;
    const late_names = late.map((tool) => toolName(LAZY + tool));
    const lazy = Array.from({ length: LAZY }, (_, index) => toolName(index));
    const fixed = ["note", "fail", "install", "hang", "once", "ask", "enter_plan_mode", "submit_plan", "transfer_task"];
    return [...fixed, ...late_names, ...lazy].filter((name) => !gone.some((tool) => toolName(tool) === name));
  }
}
