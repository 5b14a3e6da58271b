import { env } from "cloudflare:workers";
import type { Agent } from "../../src/define/types.ts";
import { apiKeys, SessionObject as Base, holdfast, type Provider } from "../../src/index.ts";
import { sessionClient } from "../../src/session/client.ts";
import type { AppendRequest, BeginRequest, ResumeRequest } from "../../src/session/contract.ts";
import { parseSessionName, sessionName } from "../../src/session/name.ts";
import type { PauseAnswer } from "../../src/values/pause.ts";
import { helperOf, ringAgent, ringHelper } from "./agent.ts";
import { type Deployment, firstDeployment } from "./deployment.ts";
import type { History } from "./history.ts";
import { taskIn } from "./player.ts";
import { canary } from "./tools.ts";
import { released, WIRE_NAMES, WIRES, type WireName, windowed } from "./wires.ts";
import type { Look } from "./workerd-place.ts";

export { TurnRunner } from "../../src/index.ts";

/**
 * The session's object, which counts how often its turn went to another isolate, and tells the ring what no API shows: that
 * a sub-session begins or ends, and that an answer to a pause was stored.
 */
export class SessionObject extends Base {
  #resumed = 0;

  override async begin(request: BeginRequest) {
    const { agent = "", conversation = "" } = request.id ?? {};
    const task = request.parent === undefined ? null : taskIn(request.user);
    if (task !== null) await fetch(`${HOOK}/began/${agent}/${task.id}/${conversation}`);
    return super.begin(request);
  }

  override async append(request: AppendRequest) {
    const appended = await super.append(request);
    const { agent = "", conversation = "" } = parseSessionName(this.ctx.id.name) ?? {};
    if (request.kind === "finish" && appended.kind === "ok" && conversation.startsWith("sub_"))
      await fetch(`${HOOK}/over/${agent}/${conversation}`);
    return appended;
  }

  override async answer(pause: string, answer: PauseAnswer) {
    const outcome = await super.answer(pause, answer);
    const { agent = "" } = parseSessionName(this.ctx.id.name) ?? {};
    if (outcome?.kind === "answered") await fetch(`${HOOK}/answered/${agent}`);
    return outcome;
  }

  override resume(request: ResumeRequest) {
    this.#resumed += 1;
    return super.resume(request);
  }

  async resumed(): Promise<number> {
    return this.#resumed;
  }
}

/** What the ring tells this worker before each round. */
export interface Deployed extends Pick<History, "model" | "fallback" | "thinking" | "window" | "textual"> {
  readonly name: string;
  readonly deployment: Deployment;
}

const { HOOK, HISTORIES } = env as unknown as { readonly HOOK: string; readonly HISTORIES: string };
const deployed = new Map<string, Deployed>();
const agents = new Map<string, Agent>();

function current(name: string): Deployment {
  return deployed.get(name)?.deployment ?? firstDeployment();
}

/** Before the ring has said anything. */
const UNKNOWN: Omit<Deployed, "name" | "deployment"> = {
  ...{ model: "anthropic/claude-sonnet-5", fallback: null, thinking: false, window: null, textual: false },
};

/** The agent of a history, or the one that it hands its tasks to. */
function agentOf(name: string): Agent {
  const known = agents.get(name);
  if (known !== undefined) return known;
  const [of = ""] = name.split("-");
  const told = deployed.get(of) ?? UNKNOWN;
  const hang = async (callId: string) => {
    const answer = await fetch(`${HOOK}/hang/${name}/${callId}`);
    return `${await answer.text()} ${canary(callId)}`;
  };
  const deployment = () => current(of);
  const agent =
    name === of
      ? ringAgent(name, told, deployment, hang, announced(helperOf(name)))
      : ringHelper(of, told, deployment, hang);
  if (deployed.has(of)) agents.set(name, agent);
  return agent;
}

/** An agent of which only the name is known before the ring says more. */
function announced(name: string): Agent {
  return new Proxy({ name } as Agent, {
    get: (_, field: keyof Agent) => (field === "name" ? name : agentOf(name)[field]),
  });
}

function provider(name: string, api: WireName): Provider {
  const own = WIRES[api].provider;
  return {
    ...windowed(
      released(own, () => current(name).renderer),
      () => deployed.get(name)?.window ?? null,
    ),
    name: `${name}-${api}`,
    async *stream(model, body, deps) {
      const isHelper = body.includes(`You are ${helperOf(name)}.`);
      await fetch(`${HOOK}/send/${isHelper ? `${helperOf(name)}/${taskIn(body)?.id}` : name}`);
      yield* own.stream(model, body, deps);
    },
  };
}

const names = Array.from({ length: Number(HISTORIES) }, (_, index) => `h${index}`);
const worker = holdfast({
  agents: names.flatMap((name) => [name, helperOf(name)]).map(announced),
  auth: [apiKeys()],
  providers: Object.fromEntries(
    names.flatMap((name) => WIRE_NAMES.map((api) => [`${name}-${api}`, provider(name, api)])),
  ),
});

export default {
  async fetch(request: Request, bindings: Cloudflare.Env, ctx: ExecutionContext): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/look") return Response.json(await look(bindings, searchParams));
    if (pathname !== "/deploy") return worker.fetch(request, bindings, ctx);
    const list: Deployed[] = await request.json();
    for (const one of list) deployed.set(one.name, one);
    return new Response("deployed");
  },
};

/** A session as its object has it. */
async function look(bindings: Cloudflare.Env, query: URLSearchParams): Promise<Look> {
  const id = { owner: "ring", agent: query.get("agent") ?? "", conversation: query.get("conversation") ?? "" };
  const session = sessionClient(bindings, id);
  const objects = bindings.SESSIONS as unknown as { getByName(name: string): Pick<SessionObject, "resumed"> };
  const [resumed, summary, entries, calls] = await Promise.all([
    objects.getByName(sessionName(id)).resumed(),
    session.summary(),
    session.entries(0, 100_000),
    session.calls(0, 100_000),
  ]);
  const branch = query.has("ends") ? await session.branch({ v: 1, at: null, of: "export" }) : null;
  const chains = branch?.kind === "branch" ? branch.branch.chains : [];
  return {
    resumed,
    status: summary?.status ?? null,
    mode: summary?.mode ?? "agent",
    entries: entries?.entries ?? [],
    calls: calls?.calls ?? [],
    ended: Object.fromEntries(chains.map(({ key, ended }) => [key, ended])),
  };
}
