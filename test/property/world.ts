import type { Agent } from "../../src/define/types.ts";
import type { SessionId } from "../../src/session/contract.ts";
import type { TurnJob } from "../../src/session/host.ts";
import { sessionName } from "../../src/session/name.ts";
import { ringAgent, ringHelper } from "./agent.ts";
import { Checker } from "./checker.ts";
import { type Deployment, firstDeployment } from "./deployment.ts";
import { Findings } from "./findings.ts";
import type { History, Planned, SummaryFault } from "./history.ts";
import { freshIsolate, type Isolate, LEASE_SECONDS } from "./isolate.ts";
import { newPlace, type Place, type PlaceHost } from "./place.ts";
import type { Task } from "./task.ts";
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

/** The agent that the ring's helper hands tasks to. */
export const SCOUT = "scout";

/** When each history begins. */
const START = 1_000_000;

/**
 * Where a history is played, in one process: the real session over Node's SQLite, the emulators' rules and caches, a clock,
 * and what runs at the moment.
 */
export class World {
  readonly findings = new Findings();
  readonly history: History;
  readonly agent: Agent;
  /** Those that tasks are handed to: the agent's own, and that one's. */
  readonly helpers: readonly [Agent, Agent];
  readonly deployment: Deployment = firstDeployment();
  readonly places: Place[] = [];
  here: Place;
  /** All sessions that there ever were, sub-sessions included, by their name. */
  readonly #all = new Map<string, Place>();
  /** Those that were deleted. */
  readonly gone = new Set<Place>();
  readonly tasks: Task[] = [];
  /** Turns that their sessions gave out, for somebody to go on with. */
  readonly jobs: TurnJob[] = [];
  readonly #models: ReadonlyMap<WireName, (body: string) => Met>;
  now = START;
  #ids = 0;
  /** What is left of the answers and summaries that the turn plans. */
  plan: Planned[] = [];
  summaries: SummaryFault[] = [];
  /** The last request was too long, and no summary came of it yet. */
  refusedForLength = false;
  isolate: Isolate = freshIsolate();
  /** Aborts when the client of the running turn leaves. */
  client = new AbortController();
  /** Why nobody may ask a model any more; null where it may be. */
  quiet: string | null = null;
  /** What its owner did to the running turn. */
  ending: "stopped" | "deleted" | null = null;
  /** The turn and its sub-sessions run in isolates of their own at the same time: none of them dies. */
  atOnce = false;
  #api: WireName | null = null;
  /** The mode of the turn or compaction that runs, and the one that it began in. */
  mode = "agent";
  began: string | null = null;

  /** `hang` runs while a tool of that name does. */
  constructor(history: History, hang: (world: World, callId: string) => Promise<string>) {
    this.history = history;
    this.#models = new Map(WIRE_NAMES.map((name) => [name, WIRES[name].local(() => this.now)]));
    const deployment = () => this.deployment;
    const scout = ringHelper("ring", history, deployment, null, { name: SCOUT });
    this.helpers = [ringHelper("ring", history, deployment, null, { subagents: [scout] }), scout];
    this.agent = ringAgent("ring", history, deployment, (callId) => hang(this, callId), this.helpers[0]);
    this.here = this.addPlace(new Checker(false, START));
  }

  /** Another session, beside those that are there. */
  addPlace(checker: Checker, of: Place | null = null): Place {
    const conversation = `ring-${this.#all.size}`;
    const place = this.#add({ owner: OWNER.id, agent: "ring", conversation }, checker, { of });
    this.places.push(place);
    return place;
  }

  /** The session of a sub-session, made when it is first asked for. */
  subPlace(id: SessionId, parent: Place): Place {
    return this.at(id) ?? this.#add(id, new Checker(true, START), { parent });
  }

  at(id: SessionId): Place | undefined {
    return this.#all.get(sessionName(id));
  }

  /** The sub-sessions of a session, and theirs. */
  subsOf(place: Place): Place[] {
    return this.subs.filter(({ parent }) => parent === place).flatMap((sub) => [sub, ...this.subsOf(sub)]);
  }

  get subs(): Place[] {
    return [...this.#all.values()].filter(({ parent }) => parent !== null);
  }

  #add(id: SessionId, checker: Checker, kin: Parameters<typeof newPlace>[3]): Place {
    const place = newPlace(this.#host, id, checker, kin);
    this.#all.set(sessionName(id), place);
    return place;
  }

  get #host(): PlaceHost {
    return {
      now: () => this.now,
      waitUntil: () => {},
      run: async (job) => void this.jobs.push(job),
      removeOther: async (id) => this.at(id)?.session.remove() ?? false,
      stopOther: async (id) => this.at(id)?.session.stop() ?? false,
    };
  }

  /** Throws where nobody may ask a model. */
  requireLoud(): void {
    if (this.quiet !== null) throw this.findings.broken(`a request after ${this.quiet}`);
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
