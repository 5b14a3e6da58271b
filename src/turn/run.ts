import { type Failure, failureOf } from "../values/errors.ts";
import { NO_USAGE } from "../values/usage.ts";
import { beginRequest, leaseSeconds, started } from "./begin.ts";
import type { TurnDeps } from "./deps.ts";
import { Pulse } from "./pulse.ts";
import type { TurnRequest } from "./runtime.ts";
import { resolveModel } from "./settings.ts";
import { Steps } from "./steps.ts";

/**
 * Runs one turn to its end (design §2). Everything that happens is told to the sink, whose last event is `done` or
 * `failed`; whatever goes wrong, the session is left valid for the next turn. Never rejects.
 */
export async function runTurn(deps: TurnDeps, request: TurnRequest, turn: string): Promise<void> {
  const { runtime, env, session, sink, now, log } = deps;
  const { agent, signal, onDisconnect, requestId } = request;
  let steps: Steps | null = null;
  let pulse: Pulse | null = null;
  let failed: Failure | null = null;
  let running = turn;
  const startedAt = now();
  const leave = () => {
    if (onDisconnect === "cancel") pulse?.end("cancelled");
  };
  try {
    const model = resolveModel(runtime, agent, env);
    const start = started(await session.begin(beginRequest(request, model, turn, env, now())));
    running = start.turn;
    pulse = new Pulse(session, start.fence, leaseSeconds(env), now);
    signal?.addEventListener("abort", leave, { once: true });
    if (signal?.aborted) leave();
    steps = new Steps(deps, request, model, start, pulse);
    await steps.run();
  } catch (error) {
    const failure = failureOf(error);
    failed = failure;
    // Its message is left out: it may quote what the caller or the provider said.
    const { message: _, ...said } = failure;
    log("turn failed", { level: "warn", turn: running, requestId, agent: agent.name, ...said });
    // Where the session can't be reached its lease runs out; the caller learns of the first fault either way.
    if (failure.reason !== "lost") await steps?.giveUp().catch(() => undefined);
    sink.emit({ type: "failed", failure, usage: steps?.usage ?? NO_USAGE });
  } finally {
    pulse?.stop();
    deps.observe?.({
      type: "turn",
      turn: running,
      startedAt,
      endedAt: now(),
      status: failed !== null ? "failed" : pulse?.ended === "cancelled" ? "stopped" : "done",
      usage: steps?.usage ?? NO_USAGE,
      failure: failed,
    });
    signal?.removeEventListener("abort", leave);
  }
}
