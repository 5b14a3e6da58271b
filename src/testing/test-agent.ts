import type { Agent } from "../define/types.ts";
import type { Provider } from "../providers/contract.ts";
import { SessionClient } from "../session/client.ts";
import type { CallRecord, SessionId } from "../session/contract.ts";
import { answerPause } from "../turn/answer-pause.ts";
import { compactSession } from "../turn/compact-session.ts";
import { plainRequest } from "../turn/plain-request.ts";
import type { RunningTurn, TurnRequest } from "../turn/runtime.ts";
import { startTurn } from "../turn/start.ts";
import { decodeEntry, type Entry, type ToolResult } from "../values/entry.ts";
import type { Owner } from "../values/owner.ts";
import type { Pause, PauseAnswer } from "../values/pause.ts";
import type { TurnEvent } from "../values/turn-event.ts";
import { nodeSession } from "./node-session.ts";

export interface TestAgentOptions {
  /** The model, such as `scripted(…).provider`. It answers whatever model the agent names. */
  readonly model: Provider;
  /** The bindings that tools and functions of the agent get. */
  readonly env?: Partial<Cloudflare.Env>;
  readonly owner?: Owner;
}

/** What one message came to. */
export interface Said {
  /** What the agent answered, all of its steps. */
  readonly text: string;
  readonly events: readonly TurnEvent[];
}

/** One conversation with an agent, in this process. */
export interface TestedAgent {
  /** Says something and waits for the turn's end. Rejects with the failure's message if the turn fails. */
  say(text: string): Promise<Said>;
  /** What waits for an answer. */
  pauses(): Promise<readonly Pause[]>;
  /** Answers a pause, and waits for the turn that goes on with it; null while others are open. Rejects as `say` does. */
  answer(pause: string, answer: PauseAnswer): Promise<Said | null>;
  /** Compacts the conversation, as `POST …/compact` does. Answers whether anything was left out. */
  compact(): Promise<boolean>;
  /** Of the conversation, or of a sub-session as a result of `transfer_task` names it. */
  entries(of?: SubSession): Promise<Entry[]>;
  /** What the ledger recorded of each model call. */
  ledger(of?: SubSession): Promise<CallRecord[]>;
}

type SubSession = NonNullable<ToolResult["session"]>;

const ANYBODY: Owner = { id: "tester", name: "Tester", roles: ["user"] };

/**
 * Runs an agent in Node, without workerd: the real turn and the real session, over Node's SQLite. Nothing is kept from
 * one turn to the next but what the session stored, so every turn is one in a fresh isolate.
 */
export function testAgent(agent: Agent, { model, env = {}, owner = ANYBODY }: TestAgentOptions): TestedAgent {
  const work: Promise<unknown>[] = [];
  const waitUntil = (promise: Promise<unknown>) => {
    work.push(promise);
  };
  const stored = new Map<string, SessionClient>();
  const sessions = (_: unknown, id: Pick<SessionId, "agent" | "conversation">) => {
    const name = JSON.stringify([id.agent, id.conversation]);
    const session = nodeSession({ waitUntil, now: Date.now });
    const client = stored.get(name) ?? new SessionClient({ getByName: () => session }, name);
    stored.set(name, client);
    return client;
  };
  const own: SubSession = { agent: agent.name, conversation: "test" };
  const client = sessions(null, own);
  const host = { runtime: { agents: [agent], provider: () => model }, sessions, log: () => {} };
  const whose = { agent, owner, conversation: { id: "test", minted: true }, requestId: "test" };
  const start = (request: TurnRequest) => startTurn(host, env as Cloudflare.Env, { waitUntil }, request);
  const told = async (turn: RunningTurn): Promise<Said> => {
    const events: TurnEvent[] = [];
    for await (const event of turn.events) events.push(event);
    await Promise.all(work.splice(0));
    const last = events.at(-1);
    if (last?.type === "failed") throw new Error(last.failure.message);
    return { text: events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join(""), events };
  };
  return {
    say: (text) => told(start(plainRequest(whose, [{ type: "text", text }]))),
    pauses: async () => (await client.pauses()) ?? [],
    async answer(pause, answer) {
      const deps = { sessions: host.sessions, log: host.log, goOn: start };
      const turn = await answerPause(deps, env as Cloudflare.Env, whose, pause, answer);
      return turn === null ? null : told(turn);
    },
    async compact() {
      const asked = { agent, owner, requestId: "test", conversation: "test" };
      const done = await compactSession(host, env as Cloudflare.Env, { waitUntil }, asked);
      return done?.compacted ?? false;
    },
    async entries(of = own) {
      const found = await sessions(null, of).entries(0, Number.MAX_SAFE_INTEGER);
      return (found?.entries ?? []).map(([, text]) => decodeEntry(text));
    },
    async ledger(of = own) {
      const found = await sessions(null, of).calls(0, Number.MAX_SAFE_INTEGER);
      return found?.calls ?? [];
    },
  };
}
