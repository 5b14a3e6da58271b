import type { Agent } from "../define/types.ts";
import { sha256 } from "../prefix/digest.ts";
import { subConversation } from "../session/children.ts";
import type { SessionId } from "../session/contract.ts";
import { sessionName } from "../session/name.ts";
import type { Status } from "../values/entry.ts";
import type { TurnEvent } from "../values/turn-event.ts";
import { NO_USAGE, newTokens, type Usage, type UsageSum } from "../values/usage.ts";
import { sessionId } from "./begin.ts";
import { type Budget, budgetOf } from "./budget.ts";
import { plainRequest } from "./plain-request.ts";
import type { SubTurn, TurnRequest } from "./runtime.ts";

/** How often a task is joined again whose turn goes on elsewhere. */
const TRIES = 3;

/** Runs turns of sub-sessions, stops them, and deletes them. */
export interface SubSessions {
  run(request: TurnRequest): SubTurn;
  stop(id: SessionId): Promise<unknown>;
  remove(id: SessionId): Promise<unknown>;
}

/** The turn that hands a task over. */
export interface Transferring {
  readonly subSessions: SubSessions;
  readonly request: TurnRequest;
  readonly budget: Budget;
  /** Aborts with what ended the turn. */
  readonly signal: AbortSignal;
  /** The entry that made the calls. */
  readonly of: number;
  /** The calls are run again: their sub-sessions may be there. */
  readonly again: boolean;
  /** The session of the turn was deleted. */
  readonly isGone: () => Promise<boolean>;
}

export interface Transferred {
  readonly status: Extract<Status, "ok" | "error" | "interrupted">;
  readonly text: string;
  readonly session: { readonly agent: string; readonly conversation: string };
  /** What it used, with all that it handed over itself. */
  readonly used: UsageSum;
}

/**
 * Hands a task to a subagent, as a session of its own that knows nothing of its parent's, and answers what it said last.
 * Stopping the turn stops it; what ends the turn's isolate leaves it to go on by itself, and the call, run again, joins
 * it. What it takes is taken from the turn's budget. `tell` gets lines on what it does. Never rejects.
 */
export async function transferTask(
  { subSessions, request, budget, of, signal, again, isGone }: Transferring,
  call: string,
  agent: Agent,
  task: string,
  tell: (line: string) => void,
): Promise<Transferred> {
  const { owner, requestId, traceparent = null, host = null } = request;
  const parent = sessionId(owner, request.agent.name, request.conversation.id);
  const conversation = subConversation(parent, of, call);
  const session = { agent: agent.name, conversation };
  const own = budgetOf(agent, undefined, budget);
  const stop = () => {
    // What else ends the turn here leaves it to go on elsewhere.
    const over = signal.reason === "cancelled" || signal.reason === "expired";
    if (over) subSessions.stop({ owner: owner.id, ...session }).catch(() => undefined);
  };
  signal.addEventListener("abort", stop, { once: true });
  const asked = (first: boolean): TurnRequest => ({
    ...plainRequest({ agent, owner, conversation: { id: conversation, minted: first }, requestId, traceparent }, [
      { type: "text", text: task },
    ]),
    ...{ signal, host, onDisconnect: "parent" },
    once: { key: "task", body: sha256(task), repeated: false },
    sub: {
      ...{ parent: sessionName(parent), steps: own.left, budget: own },
      ...(own.tokensLeft === Number.POSITIVE_INFINITY ? {} : { tokens: own.tokensLeft }),
    },
  });
  let heard: Heard;
  for (let tries = 1; ; tries++) {
    heard = new Heard(agent.name, tell);
    const turn = subSessions.run(asked(!again && tries === 1));
    for await (const event of turn.events) heard.take(event);
    await turn.over;
    // What lost its lease here goes on elsewhere, where it is joined.
    if (heard.over || signal.aborted || tries === TRIES || (await isGone().catch(() => true))) break;
  }
  signal.removeEventListener("abort", stop);
  // It may have begun just after its parent's deletion, which then could not find it.
  if (await isGone().catch(() => false)) await subSessions.remove({ owner: owner.id, ...session });
  // Calls that it made elsewhere, or before its isolate was lost.
  own.spend(Math.max(0, heard.requests - own.taken.calls), Math.max(0, newTokens(heard.usage) - own.taken.tokens));
  return { ...heard.outcome, session, used: { ...heard.usage, calls: own.taken.calls } };
}

/** What is heard of a sub-session's turn. */
class Heard {
  requests = 0;
  usage: Usage = NO_USAGE;
  /** It has ended: without that it goes on elsewhere. */
  over = false;
  outcome: Pick<Transferred, "status" | "text"> = {
    status: "interrupted",
    text: "The turn was stopped while the other agent worked on the task.",
  };
  readonly #name: string;
  readonly #tell: (line: string) => void;
  #text = "";

  constructor(name: string, tell: (line: string) => void) {
    this.#name = name;
    this.#tell = tell;
  }

  take(event: TurnEvent): void {
    switch (event.type) {
      case "request":
        this.requests += 1;
        this.#text = "";
        return;
      case "withdrawn":
        this.#text = "";
        return;
      case "text":
        this.#text += event.text;
        return;
      case "call":
        if (!event.host) this.#tell(`${this.#name} → ${event.name}`);
        return;
      case "progress":
        this.#tell(`${this.#name}: ${event.text}`);
        return;
      case "done":
        this.usage = event.usage;
        this.over = true;
        this.outcome = ended(event, this.#text);
        return;
      case "failed":
        this.usage = event.usage;
        if (event.failure.reason === "lost") return;
        this.over = true;
        this.outcome = { status: "error", text: `The other agent failed: ${event.failure.message}` };
        return;
      case "started":
      case "answering":
      case "thinking":
      case "result":
      case "pause":
        return;
    }
  }
}

function ended({ stop, detail }: Extract<TurnEvent, { type: "done" }>, text: string): Heard["outcome"] {
  switch (stop) {
    case "end":
    case "calls":
      return { status: "ok", text: text.trim() === "" ? "(The other agent said nothing.)" : text };
    case "length":
    case "cut":
      return { status: "error", text: `The other agent's answer was cut: ${text}` };
    case "refusal":
      return { status: "error", text: `The other agent refused. ${detail ?? text}` };
    case "stopped":
    case "paused":
      return { status: "interrupted", text: "The other agent was stopped." };
  }
}
