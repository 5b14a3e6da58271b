import { toolCatalog } from "../../src/catalog/catalog.ts";
import type { SessionApi } from "../../src/session/contract.ts";
import type { TurnJob } from "../../src/session/host.ts";
import type { TurnDeps } from "../../src/turn/deps.ts";
import { resumeTurn } from "../../src/turn/run.ts";
import { Sink } from "../../src/turn/sink.ts";
import type { TurnEventBody } from "../../src/values/turn-event.ts";
import { passing } from "./clock.ts";
import type { Planned } from "./history.ts";
import { freshIsolate, type Isolate, kill, living } from "./isolate.ts";
import type { Place } from "./place.ts";
import { ringProvider } from "./provider.ts";
import { subSessionsOf } from "./sub-session.ts";
import { canary } from "./tools.ts";
import { ENV, type World } from "./world.ts";

/** Tools whose calls wait for an answer. */
const ASKING: ReadonlySet<string> = new Set(["ask", "submit_plan"]);

/** Another isolate has the turn; in it the model answers as planned what was asked. */
export function isolateFor(world: World, answers: readonly Planned[], asked: string): Isolate {
  world.plan = [...answers];
  world.isolate = freshIsolate(asked);
  return world.isolate;
}

/** A turn that its session gave out, and canaries of what its open calls said already. */
export interface Taken {
  readonly job: TurnJob;
  readonly said: readonly string[];
}

/** Goes on with a turn that its session gave out. */
export async function resume(
  world: World,
  place: Place,
  { job, said }: Taken,
  answers: readonly Planned[],
): Promise<Isolate> {
  const isolate = isolateFor(world, answers, world.isolate.asked);
  isolate.said.push(...said);
  await inIsolate(world, isolate, place, (deps) => resumeTurn(deps, job));
  return isolate;
}

/** Runs a turn of a session. Throws if it fails for another reason than the history's. */
export async function inIsolate(
  world: World,
  isolate: Isolate,
  place: Place,
  run: (deps: TurnDeps) => Promise<void>,
): Promise<void> {
  class Tap extends Sink {
    override emit(event: TurnEventBody): void {
      hear(world, isolate, event);
      super.emit(event);
    }
  }
  const sink = new Tap("turn");
  const { runtime, sessions, log } = hostOf(world, isolate, place);
  const turn = run({
    ...{ runtime, env: ENV, session: sessions(), quotas: null, sink, log },
    now: () => world.now,
    mintId: () => world.mint(),
    subSessions: subSessionsOf(world, isolate, place),
  });
  await passing(turn);
  for await (const event of sink) {
    if (event.type !== "failed" || isolate.dead || world.ending !== null || world.quiet !== null) continue;
    const { reason, detail, message } = event.failure;
    if (reason !== "provider") throw new Error(`a turn failed: ${reason}: ${detail ?? message}`);
  }
}

/** The worker, as this isolate has it, whatever session it is asked for. */
export function hostOf(world: World, isolate: Isolate, place: Place) {
  const session = sessionFor(world, isolate, place);
  const provider = (name: string) => ringProvider(world, isolate, name);
  return { runtime: { agents: [world.agent, ...world.helpers], provider }, sessions: () => session, log: () => {} };
}

function sessionFor(world: World, isolate: Isolate, place: Place): SessionApi {
  const { agent, findings } = world;
  return living(place.session, isolate, {
    started({ mode, resumed }) {
      isolate.resumed = resumed;
      world.mode = mode;
      world.began ??= mode;
      // What a mode makes core needs no search there.
      for (const { spec } of toolCatalog(agent, mode).core) place.loaded.add(spec.name);
    },
    stored({ kind }) {
      // What tools said stands in every request from then on; what is handed over, once the others of its batch are over.
      if (kind === "handover") return;
      for (const one of isolate.said.splice(0)) place.expected.add(one);
      if (kind === "answer" && isolate.dies === "at_answer") kill(isolate, "dead_before_calls", findings);
    },
  });
}

/** Takes from an event of a turn what the checks need, and checks that a tool ran where its mode allows it. */
function hear({ agent, findings, mode }: World, isolate: Isolate, event: TurnEventBody): void {
  if (event.type === "request") {
    isolate.verdict = event.verdict;
    isolate.ran.clear();
  }
  if (event.type !== "result") return;
  const { id, name, status, text } = event;
  isolate.ran.set(id, status);
  if (text.includes("canary-")) isolate.said.push(canary(id));
  if (/^Done with task \d+\.$/.test(text)) isolate.said.push(text);
  const allowed = toolCatalog(agent, mode).allowed(name);
  // What somebody was asked is answered in whatever mode they are in by then.
  if (!allowed && status === "ok" && !ASKING.has(name)) throw findings.broken(`${name} ran in the mode ${mode}`);
  // What another mode made core is declared from then on, and in this one nothing speaks for it.
  const core = Object.values(agent.modes).some(({ core = [] }) => core.includes(name));
  if (allowed && !core && isolate.loads.includes(name) && text.includes(" is not loaded."))
    throw findings.broken(`${name} is loaded and can't be called in the mode ${mode}`);
}
