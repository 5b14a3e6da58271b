import type { Numbered } from "../values/entry.ts";
import type { ToolDeferrals } from "../values/tool-deferrals.ts";
import { callsOf } from "./effective.ts";

/**
 * Whether deferrals may go with a history that was cut (fork, branch, rewind): every load point's call must be in it,
 * as a call of our own with its result or as a host search. If not, the deferrals start empty (design §3.1).
 */
export function survives(deferrals: ToolDeferrals, effective: readonly Numbered[]): boolean {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const { entry } of effective) {
    if (entry.origin !== "runtime") continue;
    if (entry.kind === "assistant") for (const call of callsOf(entry)) called.add(call.id);
    if (entry.kind === "results") for (const result of entry.results) answered.add(result.call);
    if (entry.kind === "host_search") {
      called.add(entry.call);
      answered.add(entry.call);
    }
  }
  return [...deferrals.loadPoints.values()].every((id) => called.has(id) && answered.has(id));
}
