import type { Numbered, SystemUpdateEntry } from "../values/entry.ts";

/** An agent's instructions as a turn has them; `text` is null where a function gives them, which is not asked for this. */
export interface GivenInstructions {
  readonly text: string | null;
  readonly revision: number;
}

/** Instructions as the session's newest baseline has them, and the agent's revision they were asked for. */
export interface FrozenInstructions {
  readonly text: string;
  readonly revision: number;
}

type Update = Pick<SystemUpdateEntry, "kind" | "origin" | "text" | "withdraws">;

/** The client's system text that the next epoch begins with, where the session was frozen with `frozen`. */
export function clientSystemOf([first]: readonly Numbered[], frozen: string | null): string | null {
  return (first?.entry.kind === "compaction" ? first.entry.system : undefined) ?? frozen;
}

/** The client's system text if it is another than the one in force, else none. No text leaves in force what is. */
export function clientUpdate(frozen: string | null, effective: readonly Numbered[], given: string | null): Update[] {
  if (given === null) return [];
  if (given === (updatesOf(effective, "client").at(-1) ?? clientSystemOf(effective, frozen))) return [];
  return [{ kind: "system_update", origin: "client", text: given }];
}

/**
 * What instructions that a deploy changed come to (design §3.5). A text that is not the one in force reaches the model as
 * an update. Where they are asked anew for the next request (`anew`: it records a new baseline; or the agent's revision
 * rose) the earlier updates are withdrawn, for what they said is in the new text or is to be gone.
 */
export function instructionsUpdate(
  frozen: FrozenInstructions | null,
  effective: readonly Numbered[],
  given: GivenInstructions | undefined,
  anew: boolean,
): Update[] {
  if (frozen === null || given === undefined) return [];
  const updates = updatesOf(effective, "runtime");
  if (anew || given.revision > frozen.revision) {
    return updates.length === 0 ? [] : [{ kind: "system_update", origin: "runtime", text: "", withdraws: true }];
  }
  if (given.text === null || given.text === (updates.at(-1) ?? frozen.text)) return [];
  return [{ kind: "system_update", origin: "runtime", text: given.text }];
}

function updatesOf(effective: readonly Numbered[], origin: SystemUpdateEntry["origin"]): string[] {
  return effective.flatMap(({ entry }) =>
    entry.kind === "system_update" && entry.origin === origin ? [entry.text] : [],
  );
}
