import type { Numbered, ToolResult } from "../../src/values/entry.ts";
import { MODES } from "./agent.ts";

/** Where a session's modes begin: the mode that it was in before the entry with that index. */
export interface Base {
  readonly mode: string;
  readonly from: number;
}

/** What a mode of the ring's agent lets the model call, by name. */
export function allowedIn(mode: string): (name: string) => boolean {
  const allow = mode === "agent" ? ["*"] : (MODES[mode]?.allow ?? []);
  const listed = (name: string) =>
    allow.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : one === name));
  return (name) => {
    if (name === "tool_search") return true;
    if (name === "submit_plan") return mode === "plan";
    return listed(name) && !(name === "enter_plan_mode" && mode === "plan");
  };
}

/** The mode that a session is in before the entry with that index. */
export function modeBefore(entries: readonly Numbered[], { mode, from }: Base, index: number): string {
  let now = mode;
  for (const { entry } of entries.slice(from, index)) if (entry.kind === "mode_change") now = entry.mode;
  return now;
}

/**
 * Checks the entries from the index `known` on: a mode changes where its owner changed it (`patched`, in that order), where
 * `enter_plan_mode` ran and where a plan was approved, there at once and nowhere else; and no tool ran in a mode that forbids
 * it. Throws what is not so. Answers what came up.
 */
export function checkModes(
  entries: readonly Numbered[],
  known: number,
  base: Base,
  patched: readonly string[],
): string[] {
  const seen: string[] = [];
  const owners: string[] = [];
  const mustChange = (index: number, mode: string, why: string) => {
    const entry = entries[index]?.entry;
    if (entry?.kind !== "mode_change" || entry.origin !== "runtime" || entry.mode !== mode)
      throw new Error(`${why}, and the session does not change to the mode ${mode}`);
    due += 1;
    seen.push(why);
  };
  let due = 0;
  let changed = 0;
  for (let index = known; index < entries.length; index += 1) {
    const entry = entries[index]?.entry;
    if (entry?.kind === "mode_change" && entry.origin === "client") owners.push(entry.mode);
    else if (entry?.kind === "mode_change") changed += 1;
    if (entry?.kind !== "results" && entry?.kind !== "pause") continue;
    const pause = entries.findIndex((one) => one.entry.kind === "pause" && one.entry.of === entry.of);
    const ok = entry.results.filter(({ status }) => status === "ok").map(({ name }) => name);
    if (entry.kind === "pause" && ok.includes("enter_plan_mode")) mustChange(index - 1, "plan", "plan mode entered");
    if (entry.kind === "results" && pause < 0 && ok.includes("enter_plan_mode"))
      mustChange(index + 1, "plan", "plan mode entered");
    if (entry.kind === "results" && ok.includes("submit_plan")) mustChange(index + 1, "agent", "plan approved");
    const call = entries.findIndex(({ seq }) => seq === entry.of);
    // What was called before a copy was made was checked where it was called: the copy knows the mode that came of it alone.
    if (call < base.from) continue;
    const modes = [call, index, ...(pause < 0 ? [] : [pause])].map((at) => modeBefore(entries, base, at));
    seen.push(...gated(entry.results, modes));
  }
  if (changed !== due) throw new Error(`the runtime changed the mode ${changed} times where ${due} were due`);
  if (owners.join() !== patched.join())
    throw new Error(`the owner changed the mode to ${patched.join()}, and the session has ${owners.join()}`);
  return seen;
}

/** Throws where a tool ran that none of these modes allows, or one was refused that all of them allow. */
function gated(results: readonly ToolResult[], modes: readonly string[]): string[] {
  const forbidden = results.filter(({ name }) => !modes.some((mode) => allowedIn(mode)(name)));
  const ran = forbidden.find(({ status }) => status === "ok");
  if (ran !== undefined) throw new Error(`${ran.name} ran in the mode ${modes[0]}`);
  // A plan is denied by its owner.
  const refused = results.filter(({ name, status }) => status === "denied" && name !== "submit_plan");
  const allowed = refused.find(({ name }) => modes.every((mode) => allowedIn(mode)(name)));
  if (allowed !== undefined) throw new Error(`${allowed.name} was refused in the mode ${modes[0]}, which allows it`);
  return refused.length > 0 ? ["a mode's refusal"] : [];
}
