import type { TurnStart } from "../session/contract.ts";
import type { TurnJob } from "../session/host.ts";
import { type Failure, failureOf, HoldfastError } from "../values/errors.ts";
import { NO_USAGE } from "../values/usage.ts";
import { askedBy } from "./asked.ts";
import { beginRequest, leaseSeconds, resumeRequest, started } from "./begin.ts";
import type { TurnDeps } from "./deps.ts";
import { passTurn } from "./follow.ts";
import { HeldTurn } from "./held-turn.ts";
import { lost } from "./journal.ts";
import { CLIENT_GONE_MS, RUN_MS } from "./limits.ts";
import type { Observe } from "./observation.ts";
import { type Ended, Pulse } from "./pulse.ts";
import { beginWithin } from "./quotas.ts";
import { Relay } from "./relay.ts";
import { replayed } from "./replay.ts";
import type { TurnRequest } from "./runtime.ts";
import { type Model, resolveModels } from "./settings.ts";
import { takeSteps } from "./steps.ts";

/** A turn that this isolate holds. */
interface Held {
  readonly start: TurnStart;
  readonly request: TurnRequest;
  readonly models: readonly [Model, ...Model[]];
}

/**
 * Runs one turn to its end, or until another isolate goes on with it (design §2). Everything that happens is told to the
 * sink, whose last event is `done` or `failed`; whatever goes wrong, the session is left valid for the next turn. A
 * request that asks again for a turn is told that one. Never rejects.
 */
export async function runTurn(deps: TurnDeps, request: TurnRequest, turn: string): Promise<void> {
  const { env, runtime, session, now } = deps;
  await drive(deps, { turn, agent: request.agent.name, requestId: request.requestId }, async () => {
    const models = resolveModels(runtime, request.agent, env);
    const { seconds } = request.agent.limits;
    // A sub-session's turn is part of the turn above, which was let in.
    const quotas = request.sub === undefined ? deps.quotas : null;
    const answer = await beginWithin({ ...deps, quotas }, beginRequest(request, models[0], turn, env, now()), seconds);
    if (answer.kind !== "joined") return { start: started(answer), request, models };
    await passTurn(session, answer.turn, deps.sink);
    return null;
  });
}

/** Goes on with a turn that its session gave out, as {@link runTurn} does; at most for ten minutes at a time. */
export async function resumeTurn(deps: TurnDeps, { id, turn, fence }: TurnJob): Promise<void> {
  const { env, runtime, session, now } = deps;
  await drive(deps, { turn, agent: id.agent, requestId: turn }, async (limit) => {
    const agent = runtime.agents.find(({ name }) => name === id.agent);
    let held = fence;
    try {
      if (agent === undefined) throw gone(id.agent);
      const models = resolveModels(runtime, agent, env);
      const start = await session.resume(resumeRequest(agent, models[0], turn, fence, `run_${deps.mintId()}`));
      if (start.kind === "lost") throw lost();
      held = start.fence;
      limit(now() + RUN_MS);
      return { start, request: askedBy(start, agent, id), models };
    } catch (error) {
      await abandon(session, held, failureOf(error));
      throw error;
    }
  });
}

/** `hold` answers null when the turn runs elsewhere; what it tells `limit` is when this run must hand it over. */
async function drive(
  deps: TurnDeps,
  about: { readonly turn: string; readonly agent: string; readonly requestId: string },
  hold: (limit: (leave: number) => void) => Promise<Held | null>,
): Promise<void> {
  const { env, session, sink, now, log } = deps;
  let running: HeldTurn | null = null;
  let fence: number | null = null;
  let pulse: Pulse | null = null;
  let relay: Relay | null = null;
  let failed: Failure | null = null;
  let resumed = false;
  let leaving = Number.POSITIVE_INFINITY;
  let { turn } = about;
  let observe: Observe | null = null;
  let signal: AbortSignal | null = null;
  let request: TurnRequest | null = null;
  const startedAt = now();
  const leave = () => {
    if (request?.onDisconnect === "cancel") pulse?.leaveAlone();
    else if (request?.onDisconnect === "parent") pulse?.end(endedOf(signal?.reason));
    else pulse?.leaveBy(now(), now() + CLIENT_GONE_MS);
  };
  try {
    const held = await hold((at) => {
      leaving = at;
    });
    if (held === null) return;
    const { start } = held;
    turn = start.turn;
    fence = start.fence;
    request = held.request;
    signal = request.signal;
    observe = deps.observe?.(request) ?? null;
    resumed = start.resumed;
    if (resumed) sink.goOnFrom(await replayed(session, start));
    relay = new Relay(session, start.fence, sink.log);
    sink.onEvent = (event) => relay?.more(event);
    const attach = () => relay?.attach();
    if (start.attach) attach();
    pulse = new Pulse(session, start.fence, leaseSeconds(env), now, attach);
    pulse.leaveBy(leaving);
    signal?.addEventListener("abort", leave, { once: true });
    if (signal?.aborted) leave();
    running = new HeldTurn({ ...deps, observe, attach }, request, held.models, start, pulse);
    await takeSteps(running);
  } catch (error) {
    const failure = failureOf(error);
    failed = failure;
    // Its message is left out: it may quote what the caller or the provider said.
    const { message: _, ...said } = failure;
    log("turn failed", { level: "warn", ...about, turn, ...said });
    // Where the session can't be reached its lease runs out; the caller learns of the first fault either way. A turn that
    // is not over there goes on elsewhere: that it failed here is nothing for those who follow it.
    const over = failure.reason !== "lost" && (await givenUp(session, running ?? fence, failure));
    if (!over) relay?.leave();
    sink.emit({ type: "failed", failure, usage: running?.usage ?? NO_USAGE });
  } finally {
    pulse?.stop();
    observe?.({
      type: "turn",
      turn,
      startedAt,
      endedAt: now(),
      status: statusOf(failed, pulse, running),
      usage: running?.usage ?? NO_USAGE,
      failure: failed,
    });
    signal?.removeEventListener("abort", leave);
    // What several isolates told stays one log, so that whoever read the beginning can go on from there.
    if (resumed && !running?.handedOver) relay?.attach();
    await relay?.finish();
  }
}

/**
 * Gives a turn that failed back to its session: the turn, or its fence where it had not begun here; null is none. Answers
 * whether the session knows that it is over.
 */
async function givenUp(
  session: TurnDeps["session"],
  turn: HeldTurn | number | null,
  failure: Failure,
): Promise<boolean> {
  try {
    if (turn === null) return false;
    if (typeof turn === "number") return await abandon(session, turn, failure);
    await turn.giveUp(failure);
    return true;
  } catch {
    return false;
  }
}

/** Ends a turn that can't begin here. What can't be reached now may be in a moment: the lease runs out, and another run is asked. */
async function abandon(session: TurnDeps["session"], fence: number, failure: Failure): Promise<boolean> {
  if (failure.reason === "lost" || failure.reason === "unavailable") return false;
  await session.abandon(fence, failure);
  return true;
}

/** What ended the turn above: where that is over this one is too, and else goes on by itself. */
function endedOf(reason: unknown): Ended {
  if (reason === "expired") return "cancelled";
  return reason === "cancelled" || reason === "handed" ? reason : "lost";
}

function statusOf(failed: Failure | null, pulse: Pulse | null, turn: HeldTurn | null) {
  if (failed !== null) return "failed";
  if (turn?.handedOver) return "handed_over";
  return pulse?.ended === "cancelled" ? "stopped" : "done";
}

function gone(agent: string): HoldfastError {
  return new HoldfastError({
    reason: "model_not_found",
    message: `There is no agent ${JSON.stringify(agent)} any more.`,
  });
}
