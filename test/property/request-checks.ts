import { toolCatalog } from "../../src/catalog/catalog.ts";
import type { Verdict } from "../../src/values/turn-event.ts";
import type { Accepted } from "./checker.ts";
import type { Model } from "./history.ts";
import { beginsAnew, chainOf, outOfMode } from "./mode-rules.ts";
import type { Met } from "./wire.ts";
import { wireProblems } from "./wire-rules.ts";
import { factsOf, wireOf } from "./wires.ts";
import type { World } from "./world.ts";

/** A request that goes out, and what the emulator made of it. */
export interface Outgoing {
  readonly met: Met;
  readonly model: Model;
  readonly body: string;
}

/** Checks the request of a turn. `message`: the number of the user message that it answers, from 0. Throws what it breaks. */
export function checkRequest(world: World, outgoing: Outgoing, verdict: Verdict, message: number): void {
  const { findings, here } = world;
  findings.guard(() => {
    const accepted = acceptedOf(world, outgoing, message, verdict);
    here.checker.check(chainOf(outgoing.model, world.mode), accepted, verdict, world.now);
  });
}

/** Checks the request for a summary. `again`: it is the second try. Throws what it breaks. */
export function checkSummary(world: World, outgoing: Outgoing, again: boolean): void {
  const { findings, here } = world;
  findings.guard(() => {
    const accepted = acceptedOf(world, outgoing, 0, null);
    here.checker.checkAside(chainOf(outgoing.model, world.mode), accepted, again, world.now);
  });
}

/** What every session's requests are checked for. `shown`: the tools that it shows; `loaded` as in `wireProblems`. Throws a refusal. */
export function accept({ met, model, body }: Outgoing, shown: readonly string[], loaded: Set<string>) {
  if (met.kind === "refused") throw new Error(`refused by ${met.failure.rule}: ${met.failure.message}`);
  const wire = wireOf(model);
  const view = wire.view(body);
  const accepted = {
    layout: wire.layout(body),
    problems: [...met.flags, ...wire.problems(body), ...wireProblems(view, shown, loaded)],
    readTokens: met.read,
    idealTokens: met.ideal,
    inlineOnly: !factsOf(model).deferral,
  };
  // Where the provider drops thinking with the next message, it can't read all that it wrote.
  const cached = factsOf(model).dropsThinking ? 0 : met.cached;
  return { met, view, accepted, cached };
}

function acceptedOf(world: World, outgoing: Outgoing, message: number, verdict: Verdict | null): Accepted {
  const { agent, findings, here, isolate, mode } = world;
  const { model } = outgoing;
  const facts = factsOf(model);
  const { allowed } = toolCatalog(agent, mode);
  // A baseline has all that the history speaks of. What a rewind brings back from before it is declared where it is
  // allowed; where it is forbidden it comes back with the mode (design §3.3).
  const baseline = beginsAnew(verdict) && here.fresh;
  const deployed = agent.tools.map(({ spec }) => spec.name);
  const shown = deployed.filter((name) => allowed(name) || (facts.toolChanges && baseline));
  const { met, view, accepted, cached } = accept(outgoing, shown, here.loaded);
  findings.seen.add(`model ${model}`);
  if (verdict !== null) here.fresh = false;
  if (verdict !== null) isolate.loads = view.loads;
  const misplaced = outOfMode(model, mode, view, met.visible, allowed);
  return {
    ...accepted,
    problems: [...accepted.problems, ...misplaced],
    reach: met.reach,
    copied: { cached, message },
  };
}
