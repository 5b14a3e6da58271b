import type { Cause, Verdict } from "../../src/values/turn-event.ts";
import type { Model } from "./history.ts";
import type { WireView } from "./wire-rules.ts";
import { factsOf, WIRES, wireOf } from "./wires.ts";

/** Breaks behind which a new baseline is recorded. */
const NEW_BASELINE: ReadonlySet<Cause> = new Set(["compaction", "fork_reset"]);

/** Whether a request may be the first behind a new baseline, by what the ledger says of it; null: nothing. */
export function beginsAnew(verdict: Verdict | null): boolean {
  return verdict?.prefix === "first" || (verdict?.prefix === "break" && NEW_BASELINE.has(verdict.cause));
}

/** The chain of a request: where a mode can only withhold a tool by leaving it out, it has a chain of its own. */
export function chainOf(model: Model, mode: string): string {
  return factsOf(model).toolChanges ? model : `${model}#${mode}`;
}

/**
 * What is in sight though the mode forbids it, and what is not though it allows it. On Anthropic alone: elsewhere what was
 * loaded stays in sight, and the gate refuses it.
 */
export function outOfMode(
  model: Model,
  mode: string,
  { declared }: WireView,
  visible: readonly string[],
  allowed: (name: string) => boolean,
): string[] {
  if (wireOf(model) !== WIRES.anthropic) return [];
  const where = `in sight in the mode ${mode}`;
  return [
    ...visible.flatMap((name) => (allowed(name) ? [] : [`${name} is ${where}`])),
    ...declared.flatMap(({ name }) => (allowed(name) && !visible.includes(name) ? [`${name} is not ${where}`] : [])),
  ];
}
