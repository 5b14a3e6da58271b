import type { Numbered } from "../values/entry.ts";
import { collectEvidence } from "./activation.ts";

/**
 * The tools that succeeded in a turn that is still running and of which nothing in `kept` speaks: a compaction that left
 * out the rest would take them from it (design §3.3). What was only found by a search is not among them.
 */
export function carriedTools(effective: readonly Numbered[], kept: readonly number[], turn: string): string[] {
  const stays = new Set(kept);
  const spoken = new Set(collectEvidence(effective.filter(({ seq }) => stays.has(seq))).map(({ name }) => name));
  const used = effective.flatMap((numbered): Numbered[] => {
    const { seq, entry } = numbered;
    if (entry.turn !== turn) return [];
    if (entry.kind === "compaction") return [numbered];
    if (entry.kind !== "results") return [];
    return [{ seq, entry: { ...entry, results: entry.results.filter(({ details }) => details === undefined) } }];
  });
  return collectEvidence(used).flatMap(({ name }) => (spoken.has(name) ? [] : [name]));
}
