import { env } from "cloudflare:workers";
import type { Agent } from "../../src/define/types.ts";
import { apiKeys, holdfast, type Provider } from "../../src/index.ts";
import { canary, type Deployment, firstDeployment, ringAgent } from "./agent.ts";
import type { History } from "./history.ts";
import { released, WIRE_NAMES, WIRES, type WireName } from "./wires.ts";

export { SessionObject } from "../../src/index.ts";

/** What the ring tells this worker before each round. */
export interface Deployed extends Pick<History, "model" | "fallback" | "thinking"> {
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
const UNKNOWN = { model: "anthropic/claude-sonnet-5", fallback: null, thinking: false } as const;

function agentOf(name: string): Agent {
  const known = agents.get(name);
  if (known !== undefined) return known;
  const { model, fallback, thinking } = deployed.get(name) ?? UNKNOWN;
  const agent = ringAgent(
    name,
    { model, fallback, thinking },
    () => current(name),
    async (callId) => {
      const answer = await fetch(`${HOOK}/hang/${name}/${callId}`);
      return `${await answer.text()} ${canary(callId)}`;
    },
  );
  if (deployed.has(name)) agents.set(name, agent);
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
    ...released(own, () => current(name).renderer),
    name: `${name}-${api}`,
    async *stream(model, body, deps) {
      await fetch(`${HOOK}/send/${name}`);
      yield* own.stream(model, body, deps);
    },
  };
}

const names = Array.from({ length: Number(HISTORIES) }, (_, index) => `h${index}`);
const worker = holdfast({
  agents: names.map(announced),
  auth: [apiKeys()],
  providers: Object.fromEntries(
    names.flatMap((name) => WIRE_NAMES.map((api) => [`${name}-${api}`, provider(name, api)])),
  ),
});

export default {
  async fetch(request: Request, bindings: Cloudflare.Env, ctx: ExecutionContext): Promise<Response> {
    if (new URL(request.url).pathname !== "/deploy") return worker.fetch(request, bindings, ctx);
    const list: Deployed[] = await request.json();
    for (const one of list) deployed.set(one.name, one);
    return new Response("deployed");
  },
};
