import fc from "fast-check";
import type { AnswerRequest, RecordedRequest } from "../emulators/anthropic/index.ts";
import {
  bodyLayout,
  createParking,
  destroyAt,
  httpFailure,
  type Part,
  parkAt,
  startAnthropicEmulator,
} from "../emulators/anthropic/index.ts";
import { startWorkerd } from "../workerd.ts";
import { applyDeploy, type Deployment, firstDeployment, modelOf, toolName } from "./agent.ts";
import { Checker } from "./checker.ts";
import { type Fault, type History, history, LAZY, MOST, PLAIN, type Planned, type Turn } from "./history.ts";
import { play as playAnswer } from "./player.ts";
import { startRingHook } from "./ring-hook.ts";
import { wireProblems } from "./wire-rules.ts";
import type { Deployed } from "./workerd-worker.ts";

const KEY = "ring-secret-ring-secret-ring";
const AT_ONCE = 16;
const DEADLY: readonly Fault[] = ["dead_before_headers", "dead_in_stream", "dead_in_tool", "dead_before_send"];

/** What a run came to. */
export interface RingReport {
  readonly turns: number;
  readonly requests: number;
  readonly incarnations: number;
  readonly parked: Readonly<Record<string, number>>;
  /** The first broken promise of each history that has one. */
  readonly failures: readonly string[];
}

/** A death that the ring adds to a turn: at that of its answers. */
interface Death {
  readonly fault: Fault;
  readonly at: number;
}

/** One history on its way, as its client and its model see it. */
class Journey {
  readonly name: string;
  readonly history: History;
  readonly deployment: Deployment = firstDeployment();
  readonly checker = new Checker();
  readonly hung = new Set<string>();
  readonly #loaded = new Set<string>();
  plan: Planned[] = [];
  requests = 0;
  failure: string | null = null;
  /** Resolved when this turn's isolate is to die. */
  parked = Promise.withResolvers<Fault>();
  #turn = 0;
  readonly #said: { role: string; content: string }[] = [];

  constructor(name: string, drawn: History) {
    this.name = name;
    this.history = drawn;
  }

  get over(): boolean {
    const { turns, least } = this.history;
    return this.failure !== null || (this.#turn >= turns.length && this.requests >= least) || this.requests > MOST - 5;
  }

  /** Prepares the next turn: its deploys, its plan, and the death that the ring adds. */
  next(death: Death | null): Turn {
    const turn = this.history.turns[this.#turn] ?? PLAIN;
    for (const deploy of turn.deploy) {
      applyDeploy(this.deployment, deploy);
      if (deploy.kind === "renderer") this.checker.allow("renderer");
      if (deploy.kind === "revise") this.checker.allow("revoked");
    }
    this.plan = [...turn.answers];
    if (death !== null) {
      const at = Math.min(death.at, this.plan.length);
      const planned = this.plan[at] ?? { text: true, calls: [], fault: null };
      this.plan[at] = { ...planned, fault: death.fault };
    }
    this.parked = Promise.withResolvers<Fault>();
    this.#turn += 1;
    return turn;
  }

  /** The messages that the client sends. */
  messages(turn: Turn): { role: string; content: string }[] {
    const fresh = { role: "user", content: `Message ${this.#turn}.` };
    const users = this.#said.flatMap(({ role }, at) => (role === "user" ? [at] : []));
    const last = users[Math.max(0, users.length - 1 - turn.back)] ?? -1;
    const before = this.#said[last];
    const system = turn.system === null ? [] : [{ role: "system", content: `System text ${turn.system}.` }];
    if (turn.system !== null) this.checker.allow("rewind");
    if (turn.client === "message" || before === undefined) return [...system, fresh];
    this.checker.allow("rewind");
    if (turn.client === "again") return [...system, before];
    const history = this.#said.slice(0, last);
    return [
      ...system,
      ...history,
      turn.client === "edit" ? { role: "user", content: `${fresh.content} Edited.` } : before,
    ];
  }

  heard(all: readonly { role: string; content: string }[], answer: string | null): void {
    const messages = all.filter(({ role }) => role !== "system");
    if (messages.length > 1) this.#said.length = messages.length - 1;
    const asked = messages.at(-1);
    if (asked !== undefined) this.#said.push(asked);
    if (answer) this.#said.push({ role: "assistant", content: answer });
  }

  get deployed(): string[] {
    const { late, gone } = this.deployment;
    const late_names = late.map((tool) => toolName(LAZY + tool));
    const lazy = Array.from({ length: LAZY }, (_, index) => toolName(index));
    const names = ["note", "fail", "install", "hang", "once", ...late_names, ...lazy];
    return names.filter((name) => !gone.some((tool) => toolName(tool) === name));
  }

  check(request: RecordedRequest): void {
    this.requests += 1;
    try {
      this.checker.check(
        modelOf(this.history.model, this.deployment),
        {
          layout: bodyLayout(request.bodyText),
          problems: [...request.flags, ...wireProblems(JSON.parse(request.bodyText), this.deployed, this.#loaded)],
          readTokens: request.usage?.cache_read_input_tokens ?? 0,
          idealTokens: request.idealCachedTokens,
        },
        null,
      );
    } catch (error) {
      this.failure ??= `${this.name}, request ${this.requests}: ${error instanceof Error ? error.message : error}`;
    }
  }
}

/**
 * Ring (b): histories in real workerd, in rounds on one storage folder. Each round plays one turn of every history; a
 * seeded third of the turns is held at a seeded event, then workerd is killed, and all go on in the next incarnation.
 */
export async function workerdRing(count: number, seed: number): Promise<RingReport> {
  const drawn = fc.sample(history, { numRuns: count, seed });
  const journeys = drawn.map((one, index) => new Journey(`h${index}`, one));
  const byName = new Map(journeys.map((journey) => [journey.name, journey]));
  const random = seeded(seed);
  const parked: Record<string, number> = {};
  let turns = 0;
  let incarnations = 1;

  const hook = await startRingHook({
    async send(name) {
      const journey = byName.get(name);
      if (journey?.plan[0]?.fault !== "dead_before_send") return;
      journey.parked.resolve("dead_before_send");
      await new Promise<void>(() => {});
    },
    async hang(name, callId) {
      const journey = byName.get(name);
      if (journey === undefined || journey.hung.has(callId)) return "Went on.";
      journey.hung.add(callId);
      journey.parked.resolve("dead_in_tool");
      return new Promise<string>(() => {});
    },
  });
  const model = await startAnthropicEmulator({ answer: (request) => answer(byName, request) });
  const workerd = await startWorkerd({
    entry: "test/property/workerd-worker.ts",
    bindings: {
      HISTORIES: `${count}`,
      HOOK: hook.url,
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: model.url,
      HOLDFAST_API_KEYS: `ring:${KEY}`,
      HOLDFAST_LEASE_SECONDS: "0.2",
    },
  });

  const drawDeath = (): Death | null => {
    if (random() >= 1 / 3) return null;
    return { fault: DEADLY[Math.floor(random() * DEADLY.length)] ?? "cut", at: Math.floor(random() * 3) };
  };
  const play = async (journey: Journey, turn: Turn) => {
    const messages = journey.messages(turn);
    turns += 1;
    const answered = say(workerd.url, journey.name, messages).catch(() => null);
    const fault = await Promise.race([journey.parked.promise, answered.then(() => null)]);
    if (fault !== null) parked[fault] = (parked[fault] ?? 0) + 1;
    journey.heard(messages, fault === null ? await answered : null);
  };

  try {
    for (let left = journeys; left.length > 0; left = left.filter((journey) => !journey.over)) {
      const round = left.map((journey) => ({ journey, turn: journey.next(drawDeath()) }));
      await deploy(workerd.url, left);
      await inTurns(round, AT_ONCE, ({ journey, turn }) => play(journey, turn));
      await workerd.fresh();
      incarnations += 1;
    }
    const refused = model.requests.filter(({ error }) => error !== null && error.rule !== "E-A34");
    const failures = [
      ...journeys.flatMap(({ failure }) => failure ?? []),
      ...refused.map(({ error, n }) => `request ${n}: refused by ${error?.rule}: ${error?.message}`),
      ...model.takeProblems().map(({ message }) => message),
    ];
    return { turns, requests: model.requests.length, incarnations, parked, failures };
  } finally {
    await workerd.dispose();
    await model.close();
    await hook.close();
  }
}

/** What the model answers, and where the answer is held or broken. */
function answer(byName: ReadonlyMap<string, Journey>, request: AnswerRequest): Part[] {
  const journey = byName.get(/You are (h\d+),/.exec(request.bodyText)?.[1] ?? "");
  if (journey === undefined) throw new Error("a request of no history");
  const planned = journey.plan.shift() ?? null;
  journey.check(request);
  for (const one of planned?.calls ?? []) {
    if (one.kind === "install") applyDeploy(journey.deployment, { kind: "add", tool: one.tool });
  }
  const parts = playAnswer(journey.history, planned, request.visible, journey.requests);
  const fault = planned?.fault ?? null;
  if (fault === "rejected") {
    journey.checker.allow("rewind");
    return [httpFailure(400, "invalid_request_error", "prompt is too long")];
  }
  if (fault === "refused") return [httpFailure(500, "api_error", "Broken.", { "x-should-retry": "false" })];
  const at = 2 + (journey.requests % 4);
  if (fault !== "dead_before_headers") journey.checker.begun(fault !== "dead_in_stream");
  if (fault === "cut") return [...parts, destroyAt(at)];
  if (fault === "dead_before_headers" || fault === "dead_in_stream") {
    const parking = createParking<RecordedRequest>();
    parking.parked.then(() => journey.parked.resolve(fault));
    return [...parts, parkAt(fault === "dead_before_headers" ? "headers" : at, parking)];
  }
  return parts;
}

async function deploy(url: URL, journeys: readonly Journey[]): Promise<void> {
  const list: Deployed[] = journeys.map(({ name, deployment, history: { model, thinking } }) => ({
    name,
    deployment,
    model,
    thinking,
  }));
  await fetch(new URL("/deploy", url), { method: "POST", body: JSON.stringify(list) });
}

/** The answer's text, or null if the turn failed. */
async function say(url: URL, agent: string, messages: readonly object[]): Promise<string | null> {
  const response = await fetch(new URL("/v1/chat/completions", url), {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", "x-conversation-id": "ring" },
    body: JSON.stringify({ model: agent, messages }),
  });
  const body: { choices?: { message?: { content?: string } }[] } = await response.json();
  return body.choices?.[0]?.message?.content ?? null;
}

async function inTurns<T>(list: readonly T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = [...list];
  const worker = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Mulberry32: small, and the same everywhere. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
