import type { Accepted } from "./checker.ts";
import { outOfMode } from "./mode-rules.ts";
import { wireProblems } from "./wire-rules.ts";
import { factsOf, modelIn, wireOf } from "./wires.ts";
import type { Asked } from "./workerd-models.ts";
import { allowedIn } from "./workerd-modes.ts";

/** A request that the model got. */
export interface Made extends Omit<Accepted, "copied" | "problems">, Fate {
  readonly kind: "request";
  readonly model: ReturnType<typeof modelIn>;
  readonly bodyText: string;
  /** All that can be read from the cache once it is answered. */
  readonly cached: number;
  /** As `Accepted.problems`, in the mode that it was made in. `baseline`: it may be the first behind a new baseline. */
  problemsIn(mode: string, baseline: boolean): string[];
}

/** What became of a request. */
export interface Fate {
  /** It asks for a summary; `again` where no call is allowed any more. */
  readonly aside: "first" | "again" | null;
  /** Its isolate died before the session heard of its answer, so that the ledger has it not. */
  readonly lost: boolean;
  /** It was answered to the end, so that its usage is known. */
  readonly whole: boolean;
}

/** What is checked of a request. `tools`: names of those deployed; `loaded`: of what was loaded before, to which its own are added. */
export function madeOf(asked: Asked, fate: Fate, tools: readonly string[], loaded: Set<string>): Made {
  const { api, bodyText, flags, visible } = asked;
  const model = modelIn(api, bodyText);
  const wire = wireOf(model);
  const facts = factsOf(model);
  const view = wire.view(bodyText);
  const before = new Set(loaded);
  const always = [...flags, ...wire.problems(bodyText)];
  // Notes what it loads.
  wireProblems(view, [], loaded);
  return {
    ...{ kind: "request", model, bodyText, ...fate, layout: wire.layout(bodyText) },
    problemsIn(mode, baseline) {
      const allowed = allowedIn(mode);
      // A baseline has all that the history speaks of, also what the mode forbids.
      const shown = tools.filter((name) => allowed(name) || (facts.toolChanges && baseline));
      return [...always, ...wireProblems(view, shown, before), ...outOfMode(model, mode, view, visible, allowed)];
    },
    readTokens: asked.read,
    idealTokens: asked.ideal,
    reach: asked.reach,
    // Where the provider drops thinking with the next message, it can't read all that it wrote.
    cached: facts.dropsThinking ? 0 : asked.cached,
    inlineOnly: !facts.deferral,
  };
}
