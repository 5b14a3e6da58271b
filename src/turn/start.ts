import type { SessionApi, SessionId } from "../session/contract.ts";
import { sessionId } from "./begin.ts";
import { type Hooks, observer } from "./observe.ts";
import { runTurn } from "./run.ts";
import type { RunningTurn, Runtime, TurnRequest } from "./runtime.ts";
import { Sink } from "./sink.ts";

/** What turns share with the surfaces that start them. */
export interface TurnHost {
  readonly runtime: Runtime;
  readonly sessions: (env: Cloudflare.Env, id: SessionId) => SessionApi;
  readonly log: (event: string, fields: Record<string, unknown>) => void;
  readonly hooks?: Hooks;
}

/**
 * Starts a turn and returns at once. Its promise goes to `waitUntil` first, so it runs on when the client leaves; the
 * events may be read or not.
 */
export function startTurn(
  host: TurnHost,
  env: Cloudflare.Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  request: TurnRequest,
): RunningTurn {
  const sink = new Sink();
  const turn = `turn_${hex(16)}`;
  const session = host.sessions(env, sessionId(request.owner, request.agent.name, request.conversation.id));
  const observe = observer(host.hooks ?? {}, { env, ctx }, request, hex, host.log);
  const deps = { ...host, env, session, sink, observe, now: Date.now, mintId: () => hex(12) };
  ctx.waitUntil(runTurn(deps, request, turn));
  return { id: turn, events: sink };
}

function hex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}
