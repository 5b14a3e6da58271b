import { type AgentOptions, defineAgent } from "../../../src/define/agent.ts";
import { lazy } from "../../../src/define/lazy.ts";
import { defineTool } from "../../../src/define/tool.ts";
import type { Agent } from "../../../src/define/types.ts";
import type { Provider } from "../../../src/providers/contract.ts";
import { SessionClient } from "../../../src/session/client.ts";
import type { CallRecord } from "../../../src/session/contract.ts";
import { nodeSession } from "../../../src/testing/node-session.ts";
import type { TurnDeps } from "../../../src/turn/deps.ts";
import { plainRequest } from "../../../src/turn/plain-request.ts";
import { runTurn } from "../../../src/turn/run.ts";
import { Sink } from "../../../src/turn/sink.ts";
import { decodeEntry, type Entry } from "../../../src/values/entry.ts";
import type { TurnEvent } from "../../../src/values/turn-event.ts";

/** What an agent of these tests differs in from one turn to the next, as a deploy would have it. */
export interface Deploy {
  readonly model: string;
  readonly fallback?: readonly string[];
  /** Core tools that have come by now. */
  readonly core?: readonly string[];
  readonly hostSearch?: boolean;
  readonly compaction?: AgentOptions["compaction"];
}

/** One conversation. Nothing is kept from turn to turn but what the session stored: every turn is in a fresh isolate. */
export interface Talk {
  say(text: string, deploy: Deploy): Promise<TurnEvent[]>;
  ledger(): Promise<CallRecord[]>;
  entries(): Promise<Entry[]>;
}

const INPUT = { type: "object", properties: { text: { type: "string" } } } as const;

const tool = (name: string, execute: () => unknown = () => `${name} has been done.`) =>
  defineTool({ name, description: `The ${name} tool.`, risk: "read", input: INPUT, execute });

/** Long enough for every model's smallest cached prefix. */
const RULES = Array.from({ length: 150 }, (_, index) => `Rule ${index}: keep what is said in case ${index}.`).join(
  "\n",
);

function agentOf({ model, fallback = [], core = [], hostSearch = true, compaction }: Deploy): Agent {
  const fails = tool("fails", () => {
    throw new Error("It broke.");
  });
  return defineAgent({
    name: "contract",
    description: "Drives a provider.",
    ...{ model, fallback, hostSearch, instructions: RULES },
    settings: { maxOutputTokens: 1000 },
    ...(compaction === undefined ? {} : { compaction }),
    tools: [tool("clock"), fails, ...core.map((name) => tool(name)), lazy(tool("weather"), tool("convert"))],
  });
}

export function talk(providers: Readonly<Record<string, Provider>>, env: Record<string, string>, now = Date.now): Talk {
  const session = nodeSession({ now });
  const client = new SessionClient({ getByName: () => session }, "contract");
  let minted = 0;
  return {
    async say(text, deploy) {
      const agent = agentOf(deploy);
      const deps: TurnDeps = {
        runtime: { agents: [agent], provider: (name) => providers[name] },
        env: env as unknown as Cloudflare.Env,
        session: client,
        quotas: null,
        sink: new Sink(`turn_${minted}`),
        now,
        mintId: () => String(++minted),
        log: () => {},
      };
      const conversation = { id: "contract", minted: true };
      const owner = { id: "ann", name: "Ann", roles: ["user"] };
      const request = plainRequest({ agent, owner, conversation, requestId: "r" }, [{ type: "text", text }]);
      await runTurn(deps, request, `turn_${++minted}`);
      const events: TurnEvent[] = [];
      for await (const event of deps.sink) events.push(event);
      return events;
    },
    ledger: async () => (await client.calls(0, 1_000))?.calls ?? [],
    entries: async () => ((await client.entries(0, 1_000))?.entries ?? []).map(([, entry]) => decodeEntry(entry)),
  };
}

/** What the turn's last event says. */
export function outcome(events: readonly TurnEvent[]): string {
  const last = events.at(-1);
  if (last?.type === "done") return last.stop;
  return last?.type === "failed" ? `failed: ${last.failure.message}` : "no end";
}
