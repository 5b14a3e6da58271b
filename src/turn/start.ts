import type { Quotas } from "../define/quotas.ts";
import type { Counted, SessionApi, SessionId } from "../session/contract.ts";
import type { TurnJob } from "../session/host.ts";
import type { PushJob } from "../session/pushes.ts";
import { beginRequest, sessionId, started } from "./begin.ts";
import type { TurnDeps } from "./deps.ts";
import { type Hooks, observer } from "./observe.ts";
import { beginWithin } from "./quotas.ts";
import { resumeTurn, runTurn } from "./run.ts";
import type { RunningTurn, Runtime, TurnRequest } from "./runtime.ts";
import { resolveModels } from "./settings.ts";
import { Sink } from "./sink.ts";

/** What turns share with the surfaces that start them. */
export interface TurnHost {
  readonly runtime: Runtime;
  readonly sessions: (env: Cloudflare.Env, id: SessionId) => SessionApi & Partial<Counted>;
  readonly log: (event: string, fields: Record<string, unknown>) => void;
  readonly hooks?: Hooks;
  /** Absent: nothing is counted. */
  readonly quotas?: Quotas | null;
  /** Tells the news of a task, in its surface's own form. Rejects when they were not taken. */
  readonly push?: (env: Cloudflare.Env, job: PushJob) => Promise<void>;
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
  const turn = newTurnId();
  const sink = new Sink(turn);
  const id = sessionId(request.owner, request.agent.name, request.conversation.id);
  ctx.waitUntil(runTurn(depsOf(host, env, ctx, id, sink), request, turn));
  return { id: turn, events: sink };
}

/**
 * Begins a turn and leaves it to its session's object, which has it run whether or not anybody waits. Resolves once the
 * user's message is stored, with the turn's id, or with null where a turn that was to be gone on with goes on elsewhere;
 * `followTurn` tells its events. Throws the failure of the beginning.
 */
export async function startInBackground(
  host: TurnHost,
  env: Cloudflare.Env,
  request: TurnRequest,
): Promise<string | null> {
  const [model] = resolveModels(host.runtime, request.agent, env);
  const id = sessionId(request.owner, request.agent.name, request.conversation.id);
  const session = host.sessions(env, id);
  const asked = beginRequest(request, model, newTurnId(), env, Date.now());
  const deps = { quotas: host.quotas ?? null, env, session, now: Date.now, log: host.log };
  const answer = await beginWithin(deps, asked, request.agent.limits.seconds);
  if (answer.kind === "joined") return answer.turn;
  if (answer.kind === "settled") return null;
  const { fence, turn, step, lastSeq } = started(answer);
  await session.append({ v: 1, fence, turn, step, kind: "handover", firstSeq: lastSeq + 1, entries: [] });
  return turn;
}

/** Goes on with a turn that a session gave out. Resolves when this isolate is through with it. */
export async function goOnWith(
  host: TurnHost,
  env: Cloudflare.Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  job: TurnJob,
): Promise<void> {
  const sink = new Sink(job.turn);
  sink.drop();
  await resumeTurn(depsOf(host, env, ctx, job.id, sink), job);
}

function newTurnId(): string {
  return `turn_${hex(16)}`;
}

function depsOf(
  host: TurnHost,
  env: Cloudflare.Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  id: SessionId,
  sink: Sink,
): TurnDeps {
  const { runtime, sessions, log, hooks = {}, quotas = null } = host;
  return {
    runtime,
    quotas,
    env,
    session: sessions(env, id),
    sink,
    subSessions: {
      run(request) {
        const turn = newTurnId();
        const told = new Sink(turn);
        const sub = sessionId(request.owner, request.agent.name, request.conversation.id);
        return { events: told, over: runTurn(depsOf(host, env, ctx, sub, told), request, turn) };
      },
      stop: (sub) => sessions(env, sub).stop(),
      remove: (sub) => sessions(env, sub).remove(),
    },
    log,
    observe: (request) => observer(hooks, { env, ctx }, request, hex, log),
    now: Date.now,
    mintId: () => hex(12),
  };
}

/** So many random bytes, in hex. */
export function hex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}
