import type { Agent } from "../../src/define/types.ts";
import { ringAgent, ringHelper } from "./agent.ts";
import { Checker } from "./checker.ts";
import { type Deployment, firstDeployment } from "./deployment.ts";
import { Findings } from "./findings.ts";
import type { History, Planned, SummaryFault } from "./history.ts";
import { freshIsolate, type Isolate, LEASE_SECONDS } from "./isolate.ts";
import { newPlace, type Place } from "./place.ts";
import type { Met } from "./wire.ts";
import { WIRE_NAMES, WIRES, type WireName } from "./wires.ts";

export const OWNER = { id: "ann", name: "Ann", roles: ["user"] };

/** The bindings of the worker whose code runs here. */
export const ENV = {
  ANTHROPIC_API_KEY: "key",
  OPENAI_API_KEY: "key",
  CHAT_BASE_URL: "http://chat.test/v1",
  HOLDFAST_LEASE_SECONDS: String(LEASE_SECONDS),
} as unknown as Cloudflare.Env;

/**
 * Where a history is played, in one process: the real session over Node's SQLite, the emulators' rules and caches, a clock,
 * and what runs at the moment.
 */
export class World {
  readonly findings = new Findings();
  readonly history: History;
  readonly agent: Agent;
  readonly helper: Agent;
  readonly deployment: Deployment = firstDeployment();
  readonly places: Place[] = [];
  here: Place;
  /** Sub-sessions, by their conversation. */
  readonly #subs = new Map<string, Place>();
  readonly #models: ReadonlyMap<WireName, (body: string) => Met>;
  now = 1_000_000;
  #ids = 0;
  /** What is left of the answers and summaries that the turn plans. */
  plan: Planned[] = [];
  summaries: SummaryFault[] = [];
  /** The last request was too long, and no summary came of it yet. */
  refusedForLength = false;
  isolate: Isolate = freshIsolate();
  #api: WireName | null = null;
  /** The mode of the turn or compaction that runs, and the one that it began in. */
  mode = "agent";
  began: string | null = null;

  /** `hang` runs while a tool of that name does. */
  constructor(history: History, hang: (world: World, callId: string) => Promise<string>) {
    this.history = history;
    this.#models = new Map(WIRE_NAMES.map((name) => [name, WIRES[name].local(() => this.now)]));
    const deployment = () => this.deployment;
    this.helper = ringHelper("ring", history, deployment);
    this.agent = ringAgent("ring", history, deployment, (callId) => hang(this, callId), this.helper);
    this.here = this.addPlace(new Checker());
  }

  /** Another session, beside those that are there. */
  addPlace(checker: Checker, of?: Place): Place {
    const place = newPlace(() => this.now, checker, of);
    this.places.push(place);
    return place;
  }

  /** The session of a sub-session, made when it is first asked for. */
  subPlace(conversation: string): Place {
    const place = this.#subs.get(conversation) ?? newPlace(() => this.now, new Checker());
    this.#subs.set(conversation, place);
    return place;
  }

  mint(): string {
    this.#ids += 1;
    return this.#ids.toString(16).padStart(24, "0");
  }

  /** What the strict emulator of that API makes of a request. */
  meet(api: WireName, body: string): Met {
    const model = this.#models.get(api);
    if (model === undefined) throw new Error(`no model of ${api}`);
    if (this.#api !== null && this.#api !== api) this.findings.seen.add("other API");
    this.#api = api;
    return model(body);
  }
}
