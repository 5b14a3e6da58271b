import type { Provider } from "../../src/providers/contract.ts";
import type { TurnDeps } from "../../src/turn/deps.ts";
import { runTurn } from "../../src/turn/run.ts";
import type { SubTurn, TurnRequest } from "../../src/turn/runtime.ts";
import { Sink } from "../../src/turn/sink.ts";
import type { TurnEventBody, Verdict } from "../../src/values/turn-event.ts";
import { call, say } from "../emulators/common/answer.ts";
import { type Isolate, living, requireAlive } from "./isolate.ts";
import type { Place } from "./place.ts";
import { accept, type Outgoing } from "./request-checks.ts";
import { apiNamed, modelIn, WIRES } from "./wires.ts";
import { ENV, type World } from "./world.ts";

/** The turn of a sub-session that runs in `isolate`. */
interface Sub {
  readonly isolate: Isolate;
  readonly place: Place;
  /** The tool that its task names. */
  readonly wanted: string;
  /** What the ledger said of its last request. */
  verdict: Verdict;
}

/**
 * The turn of a sub-session, in the isolate of its parent's: it loads a tool and uses it, and each of its requests is
 * checked as any other.
 */
export function runSub(world: World, isolate: Isolate, request: TurnRequest): SubTurn {
  const [wanted = ""] = /lazy_\d/.exec(JSON.stringify(request.user.content)) ?? [];
  const sub: Sub = { isolate, place: world.subPlace(request.conversation.id), wanted, verdict: { prefix: "first" } };
  class Tap extends Sink {
    override emit(event: TurnEventBody): void {
      if (event.type === "request") sub.verdict = event.verdict;
      if (event.type === "failed" && !isolate.dead && event.failure.reason !== "provider")
        world.findings.broken(`a sub-session failed: ${event.failure.detail ?? event.failure.message}`);
      super.emit(event);
    }
  }
  const sink = new Tap("sub");
  const deps: TurnDeps = {
    runtime: { agents: [world.helper], provider: (name) => subProvider(world, sub, name) },
    env: ENV,
    session: living(sub.place.session, isolate, () => {}),
    quotas: null,
    sink,
    now: () => world.now,
    mintId: () => world.mint(),
    log: () => {},
  };
  return { events: sink, over: runTurn(deps, request, `turn_${world.mint()}`) };
}

function subProvider(world: World, sub: Sub, name: string): Provider | undefined {
  const api = apiNamed(name);
  if (api === undefined) return undefined;
  return {
    ...WIRES[api].provider,
    async *stream(_, body) {
      requireAlive(sub.isolate);
      const met = world.meet(api, body);
      const outgoing = { met, model: modelIn(api, body), body };
      world.findings.guard(() => checkSub(world, sub, outgoing));
      if (met.kind === "refused") return;
      sub.place.checker.begun(true);
      const done = WIRES[api].view(body).calls.size >= 2;
      const next = met.visible.includes(sub.wanted)
        ? call(sub.wanted, { text: "x" })
        : call("tool_search", { query: sub.wanted });
      const answered = met.answer([done ? say("Done.") : next]);
      yield* answered.read(answered.length);
    },
  };
}

function checkSub({ helper }: World, { place, verdict }: Sub, outgoing: Outgoing): void {
  const shown = helper.tools.map(({ spec }) => spec.name);
  const { accepted } = accept(outgoing, shown, place.loaded);
  place.checker.check(outgoing.model, accepted, verdict);
}
