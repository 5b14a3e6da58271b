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
import { wireProblems } from "./wire-rules.ts";
import { modelIn, wireOf } from "./wires.ts";
import type { Asked, Deed } from "./workerd-models.ts";
import { type Made, Place, type Said } from "./workerd-place.ts";

const DEADLY: readonly Fault[] = ["dead_before_headers", "dead_in_stream", "dead_in_tool", "dead_before_send"];
/**
 * Of how many turns the isolate dies, besides those that the history has die; how many wait for another process; and how
 * often a client does not wait for a turn that died to end.
 */
const DEATHS = 1 / 3;
const RESTS = 1 / 3;
const IMPATIENT = 1 / 4;

const AS_IT_IS: Planned = { text: true, calls: [], fault: null, copied: null };

/** One history on its way: its sessions, and what its client and its model do in them. */
export class Journey {
  readonly name: string;
  readonly history: History;
  readonly deployment: Deployment = firstDeployment();
  readonly places: Place[] = [new Place("ring")];
  here: Place = this.#first;
  /** What came up, and how often. */
  readonly seen = new Map<string, number>();
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
  /** Resolved when its isolate is to die. */
  parked = Promise.withResolvers<Fault>();
  isParked = false;
  #plan: Planned[] = [];
  #summaries: SummaryFault[] = [];
  #turn = 0;
  #deployed = 0;
  readonly #hung = new Set<string>();

  readonly #random: () => number;
  readonly #copy: (journey: Journey, copying: Copying) => Promise<() => void>;

  /** `copy` copies the session while a request is out, and answers what is to be done once that request was checked. */
  constructor(
    name: string,
    drawn: History,
    random: () => number,
    copy: (journey: Journey, copying: Copying) => Promise<() => void>,
  ) {
    this.name = name;
    this.history = drawn;
    this.#random = random;
    this.#copy = copy;
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
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  fails(why: unknown): void {
    this.failure ??= `${this.name}, request ${this.requests}: ${why instanceof Error ? why.message : why}`;
  }

  /** Another process runs: nothing is held any more. */
  revive(): void {
    this.parked = Promise.withResolvers<Fault>();
    this.isParked = false;
    for (const place of this.places) place.revive();
  }

  /** Prepares the next turn, and perhaps a death that the ring adds to it, at one of its answers. */
  next(): void {
    this.deploy();
    this.turn = this.history.turns[this.#turn] ?? PLAIN;
    this.#turn += 1;
    this.#plan = [...this.turn.answers];
    this.#summaries = [...this.turn.summaries];
    this.faulted = false;
    this.why = null;
    this.rests = this.#random() < RESTS;
    this.impatient = this.#random() < IMPATIENT;
    if (this.#random() >= DEATHS) return;
    const fault = DEADLY[Math.floor(this.#random() * DEADLY.length)] ?? "cut";
    const at = Math.min(Math.floor(this.#random() * 3), this.#plan.length);
    this.#plan[at] = { ...(this.#plan[at] ?? AS_IT_IS), fault };
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

  #park(fault: Fault): Promise<void> {
    this.#parks(fault);
    return new Promise<void>(() => {});
  }

  #parks(fault: Fault): void {
    this.faulted = true;
    this.isParked = true;
    this.saw(`parked ${fault}`);
    this.parked.resolve(fault);
  }

  /** What the model answers, and where the answer is held or broken. */
  answer(asked: Asked): Deed {
    this.requests += 1;
    const aside = summaryAsked(asked.bodyText);
    if (aside !== null) return this.#summary(asked, aside);
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
    const parts = play(this.history, planned, asked.visible, this.requests);
    if (planned?.copied && fault !== "dead_before_headers") parts.push(this.#copies(planned.copied));
    const { here } = this;
    if (fault !== "dead_before_headers") here.after(() => here.checker.begun(fault !== "dead_in_stream"));
    // The shortest answer has four events, the last of which tells its reader that it is whole.
    const at = 2 + (this.requests % 2);
    if (fault === "cut") parts.push(destroyAt(at));
    if (fault === "dead_before_headers" || fault === "dead_in_stream") {
      parts.push(this.#held(fault, fault === "dead_before_headers" ? "headers" : at));
    }
    return { kind: "answer", parts };
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
    parking.parked.then(() => this.#parks(fault));
    return parkAt(at, parking);
  }

  #copies(copying: Copying) {
    const parking = createParking<Exchange>();
    let copied = () => {};
    this.here.after(() => copied());
    parking.parked
      .then(async () => {
        copied = await this.#copy(this, copying);
      })
      .catch((error) => this.fails(error))
      .finally(() => parking.release());
    this.saw(`${copying.kind} in mid-turn`);
    return parkAt("headers", parking);
  }

  #made(
    { api, bodyText, flags, read, ideal, cached, reach }: Asked,
    fate: Pick<Made, "aside" | "lost" | "whole">,
  ): void {
    const model = modelIn(api, bodyText);
    const wire = wireOf(model);
    const facts = wire.provider.facts(model.split("/")[1] ?? "");
    const problems = wireProblems(wire.view(bodyText), this.#tools(), this.here.loaded);
    this.here.made({
      ...{ kind: "request", model, bodyText, ...fate },
      layout: wire.layout(bodyText),
      problems: [...flags, ...wire.problems(bodyText), ...problems],
      readTokens: read,
      idealTokens: ideal,
      reach,
      // Where the provider drops thinking with the next message, it can't read all that it wrote.
      cached: facts.dropsThinking ? 0 : cached,
      inlineOnly: !facts.deferral,
    });
  }

  #tools(): string[] {
    const { late, gone } = this.deployment;
    const late_names = late.map((tool) => toolName(LAZY + tool));
    const lazy = Array.from({ length: LAZY }, (_, index) => toolName(index));
    const names = ["note", "fail", "install", "hang", "once", ...late_names, ...lazy];
    return names.filter((name) => !gone.some((tool) => toolName(tool) === name));
  }
}
