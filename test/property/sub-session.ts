import type { Provider } from "../../src/providers/contract.ts";
import type { SessionId } from "../../src/session/contract.ts";
import type { TurnJob } from "../../src/session/host.ts";
import { sessionId } from "../../src/turn/begin.ts";
import type { TurnDeps } from "../../src/turn/deps.ts";
import { resumeTurn, runTurn } from "../../src/turn/run.ts";
import type { SubTurn, TurnRequest } from "../../src/turn/runtime.ts";
import { Sink } from "../../src/turn/sink.ts";
import type { SubSessions } from "../../src/turn/transfer.ts";
import type { TurnEventBody, Verdict } from "../../src/values/turn-event.ts";
import { call, type SharedPart, say } from "../emulators/common/answer.ts";
import { passing } from "./clock.ts";
import { freshIsolate, type Isolate, living, requireAlive } from "./isolate.ts";
import type { Place } from "./place.ts";
import { accept, type Outgoing } from "./request-checks.ts";
import { type Task, taskIn, worksOn } from "./task.ts";
import { happens } from "./task-events.ts";
import { apiNamed, modelIn, WIRES } from "./wires.ts";
import { ENV, SCOUT, type World } from "./world.ts";

/** The turn of a sub-session that runs in `isolate`. */
interface Sub {
  readonly isolate: Isolate;
  readonly place: Place;
  readonly task: Task;
  /** What the ledger said of its last request. */
  verdict: Verdict;
  /** What the tasks said that it handed on, and that it stores next. */
  readonly said: string[];
}

/** The sub-sessions of a session's turn, as the isolate that runs it reaches them. */
export function subSessionsOf(world: World, isolate: Isolate, parent: Place): SubSessions {
  const reached = async (id: SessionId) => {
    requireAlive(isolate);
    return world.at(id)?.session;
  };
  return {
    run: (request) => runSub(world, isolate, parent, request),
    stop: async (id) => (await reached(id))?.stop() ?? false,
    remove: async (id) => (await reached(id))?.remove() ?? false,
  };
}

/**
 * The turn of a sub-session, in the isolate of its parent's: it loads a tool and uses it, hands on what its task says, and
 * each of its requests is checked as any other.
 */
function runSub(world: World, isolate: Isolate, parent: Place, request: TurnRequest): SubTurn {
  const { owner, agent, conversation, user } = request;
  const place = world.subPlace(sessionId(owner, agent.name, conversation.id), parent);
  const task = taskIn(world, JSON.stringify(user.content));
  worksOn(world, task, place);
  const { sink, deps } = subTurn(world, isolate, place, task);
  return { events: sink, over: runTurn(deps, request, `turn_${world.mint()}`) };
}

/** Goes on with the turn of a sub-session that its session gave out, in an isolate of its own. */
export async function resumeSub(world: World, place: Place, job: TurnJob): Promise<void> {
  const task = world.tasks.find((one) => one.place === place);
  if (task === undefined) throw world.findings.broken("a sub-session without a task");
  world.findings.seen.add("sub-session taken up");
  const { sink, deps } = subTurn(world, freshIsolate(), place, task);
  sink.drop();
  await passing(resumeTurn(deps, job));
}

function subTurn(world: World, isolate: Isolate, place: Place, task: Task): { sink: Sink; deps: TurnDeps } {
  const sub: Sub = { isolate, place, task, verdict: { prefix: "first" }, said: [] };
  const expected = () => isolate.dead || world.ending !== null || world.quiet !== null;
  class Tap extends Sink {
    override emit(event: TurnEventBody): void {
      if (event.type === "request") sub.verdict = event.verdict;
      if (event.type === "result" && /^Done with task \d+\.$/.test(event.text)) sub.said.push(event.text);
      if (event.type === "done" && event.stop === "end") task.done = true;
      if (event.type === "failed" && !expected() && event.failure.reason !== "provider")
        world.findings.broken(`a sub-session failed: ${event.failure.detail ?? event.failure.message}`);
      super.emit(event);
    }
  }
  const sink = new Tap("sub");
  const session = living(place.session, isolate, {
    started: () => {},
    stored({ call: recorded }) {
      // Whatever took its isolate along until then, the session knows nothing of the answer.
      if (recorded?.answered) place.checker.begun(true, world.now);
      for (const one of sub.said.splice(0)) place.expected.add(one);
    },
  });
  const provider = (name: string) => subProvider(world, sub, name);
  const deps: TurnDeps = {
    ...{ runtime: { agents: [...world.helpers], provider }, env: ENV, session, quotas: null, sink },
    now: () => world.now,
    mintId: () => world.mint(),
    subSessions: subSessionsOf(world, isolate, place),
    log: () => {},
  };
  return { sink, deps };
}

function subProvider(world: World, sub: Sub, name: string): Provider | undefined {
  const api = apiNamed(name);
  if (api === undefined) return undefined;
  const { isolate, place, task } = sub;
  return {
    ...WIRES[api].provider,
    async *stream(_, body) {
      requireAlive(isolate);
      world.requireLoud();
      if (task.done) throw world.findings.broken(`task ${task.n} is done, and worked on again`);
      const met = world.meet(api, body);
      const outgoing = { met, model: modelIn(api, body), body };
      world.findings.guard(() => checkSub(world, sub, outgoing));
      if (met.kind === "refused") return;
      const calls = [...WIRES[api].view(body).calls.values()];
      await happens(world, isolate, task, calls.length);
      requireAlive(isolate);
      const answered = met.answer(next(task, calls, met.visible));
      place.checker.begun(false);
      yield* answered.read(answered.length);
      requireAlive(isolate);
    },
  };
}

/** What the model says next of a task, after these calls. */
function next(task: Task, calls: readonly string[], visible: readonly string[]): SharedPart[] {
  if (calls.length < 2) {
    const loaded = visible.includes(task.wanted);
    return [loaded ? call(task.wanted, { text: "x" }) : call("tool_search", { query: task.wanted })];
  }
  const handedOn = calls.filter((name) => name === "transfer_task").length;
  const below = task.below.slice(handedOn);
  if (below.length === 0) return [say(task.said)];
  return below.map(({ text }) => call("transfer_task", { agent: SCOUT, task: text }));
}

function checkSub({ helpers, now }: World, { place, verdict }: Sub, outgoing: Outgoing): void {
  const agent = helpers.find(({ name }) => name === place.id.agent);
  const shown = agent?.tools.map(({ spec }) => spec.name) ?? [];
  const { accepted, cached } = accept(outgoing, shown, place.loaded);
  const missing = [...place.expected].filter((one) => !outgoing.body.includes(one));
  if (missing.length > 0) throw new Error(`what a task said is missing: ${missing.join(", ")}`);
  place.checker.check(outgoing.model, { ...accepted, copied: { cached, message: 0 } }, verdict, now);
}
