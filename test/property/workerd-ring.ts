import fc from "fast-check";
import * as anthropic from "../emulators/anthropic/index.ts";
import { destroyAt, parkAt, type SharedPart } from "../emulators/common/answer.ts";
import type { Exchange } from "../emulators/common/exchange.ts";
import { createParking } from "../emulators/common/parking.ts";
import * as openai from "../emulators/openai/index.ts";
import { throughBridge } from "../emulators/openai-chat/bridge.ts";
import * as chat from "../emulators/openai-chat/index.ts";
import { seeded } from "../seeded.ts";
import { startWorkerd } from "../workerd.ts";
import { applyDeploy, type Deployment, firstDeployment, toolName } from "./agent.ts";
import { Checker } from "./checker.ts";
import { type Fault, type History, history, LAZY, MOST, PLAIN, type Planned, type Turn } from "./history.ts";
import { play as playAnswer } from "./player.ts";
import { startRingHook } from "./ring-hook.ts";
import { describedTools } from "./wire-chat.ts";
import { wireProblems } from "./wire-rules.ts";
import { modelIn, type WireName, wireOf } from "./wires.ts";
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
      const planned = this.plan[at] ?? { text: true, calls: [], fault: null, copied: null };
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

  check({ api, bodyText, flags, read, ideal }: Asked): void {
    this.requests += 1;
    const model = modelIn(api, bodyText);
    const wire = wireOf(model);
    const problems = wireProblems(wire.view(bodyText), this.deployed, this.#loaded);
    try {
      this.checker.check(
        model,
        {
          layout: wire.layout(bodyText),
          problems: [...flags, ...wire.problems(bodyText), ...problems],
          readTokens: read,
          idealTokens: ideal,
          inlineOnly: !wire.provider.facts(model.split("/")[1] ?? "").deferral,
        },
        null,
      );
    } catch (error) {
      this.failure ??= `${this.name}, request ${this.requests}: ${error instanceof Error ? error.message : error}`;
    }
  }
}

/** A request that an emulator accepted, whosever API it plays. */
interface Asked {
  readonly api: WireName;
  readonly bodyText: string;
  readonly visible: readonly string[];
  readonly flags: readonly string[];
  /** Cached tokens: read, and what could have been read. */
  readonly read: number;
  readonly ideal: number;
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
  const models = await startModels((asked) => answer(byName, asked));
  const workerd = await startWorkerd({
    entry: "test/property/workerd-worker.ts",
    bindings: {
      HISTORIES: `${count}`,
      HOOK: hook.url,
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: models.anthropic.url,
      OPENAI_API_KEY: "key",
      OPENAI_BASE_URL: models.openai.url,
      CHAT_BASE_URL: models.chat.url,
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
    const all = [models.anthropic, models.openai, models.chat];
    const requests = all.flatMap((model): readonly Recorded[] => model.requests);
    const refused = requests.filter(({ error }) => error !== null && !INJECTED.has(error.rule));
    const failures = [
      ...journeys.flatMap(({ failure }) => failure ?? []),
      ...refused.map(({ error, n }) => `request ${n}: refused by ${error?.rule}: ${error?.message}`),
      ...all.flatMap((model) => model.takeProblems()).map(({ message }) => message),
    ];
    return { turns, requests: requests.length, incarnations, parked, failures };
  } finally {
    await workerd.dispose();
    await Promise.all([models.anthropic.close(), models.openai.close(), models.chat.close()]);
    await hook.close();
  }
}

interface Recorded {
  readonly n: number;
  readonly error: { readonly rule: string; readonly message: string } | null;
}

/** The rules of failures that the ring itself injects. */
const INJECTED: ReadonlySet<string> = new Set(["E-A34", "E-O19", "E-C11"]);

/** What the ring does to a request: an answer with its cuts, or a failure of this status. */
type Deed =
  | { readonly kind: "answer"; readonly parts: readonly SharedPart[] }
  | { readonly kind: "fail"; readonly status: 400 | 500 };

/** An emulator for each API, all answering alike. */
async function startModels(answer: (asked: Asked) => Deed) {
  const openaiUsage = ({ usage }: Pick<openai.RecordedRequest, "usage">) => {
    return usage?.input_tokens_details.cached_tokens ?? 0;
  };
  return {
    anthropic: await anthropic.startAnthropicEmulator({
      answer(request) {
        const read = request.usage?.cache_read_input_tokens ?? 0;
        const deed = answer({ ...request, api: "anthropic", read, ideal: request.idealCachedTokens });
        if (deed.kind === "answer") return deed.parts;
        if (deed.status === 500) return anthropic.httpFailure(500, "api_error", "Broken.", NO_RETRY);
        return anthropic.httpFailure(400, "invalid_request_error", "messages.0: image is too large");
      },
    }),
    openai: await openai.startOpenAIEmulator({
      answer(request) {
        const deed = answer({
          ...request,
          api: "openai",
          read: openaiUsage(request),
          ideal: request.idealCachedTokens,
        });
        if (deed.kind === "fail") return openaiFailure(deed.status);
        const reasons = openai.findModel(request.body.model)?.reasoning;
        return deed.parts.filter(({ kind }) => kind !== "thinking" || reasons);
      },
    }),
    chat: await chat.startChatEmulator({
      answer(request) {
        const api = request.body.model === "acme-2" ? "bridge" : "chat";
        const visible = [...request.visible, ...describedTools(request.bodyText)];
        const deed = answer({ ...request, api, visible, read: openaiUsage(request), ideal: request.idealCachedTokens });
        if (deed.kind === "fail") return openaiFailure(deed.status);
        return throughBridge(deed.parts, request.visible);
      },
    }),
  };
}

const NO_RETRY = { "x-should-retry": "false" };

function openaiFailure(status: 400 | 500): openai.HttpFailure {
  if (status === 500) return openai.httpFailure(500, "server_error", "Broken.", null, NO_RETRY);
  return openai.httpFailure(400, "invalid_request_error", "The image is too large.", "image_too_large");
}

/** What the model answers, and where the answer is held or broken. */
function answer(byName: ReadonlyMap<string, Journey>, asked: Asked): Deed {
  const journey = byName.get(/You are (h\d+),/.exec(asked.bodyText)?.[1] ?? "");
  if (journey === undefined) throw new Error("a request of no history");
  const planned = journey.plan.shift() ?? null;
  journey.check(asked);
  for (const one of planned?.calls ?? []) {
    if (one.kind === "install") applyDeploy(journey.deployment, { kind: "add", tool: one.tool });
  }
  const parts = playAnswer(journey.history, planned, asked.visible, journey.requests);
  const fault = planned?.fault ?? null;
  if (fault === "rejected") {
    journey.checker.allow("rewind");
    return { kind: "fail", status: 400 };
  }
  if (fault === "refused") return { kind: "fail", status: 500 };
  const at = 2 + (journey.requests % 4);
  if (fault !== "dead_before_headers") journey.checker.begun(fault !== "dead_in_stream");
  if (fault === "cut") return { kind: "answer", parts: [...parts, destroyAt(at)] };
  if (fault === "dead_before_headers" || fault === "dead_in_stream") {
    const parking = createParking<Exchange>();
    parking.parked.then(() => journey.parked.resolve(fault));
    const held = parkAt(fault === "dead_before_headers" ? "headers" : at, parking);
    return { kind: "answer", parts: [...parts, held] };
  }
  return { kind: "answer", parts };
}

async function deploy(url: URL, journeys: readonly Journey[]): Promise<void> {
  const list: Deployed[] = journeys.map(({ name, deployment, history: { model, fallback, thinking } }) => ({
    name,
    deployment,
    model,
    fallback,
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
