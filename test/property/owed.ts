import { callsOf } from "../../src/context/effective.ts";
import type { Agent } from "../../src/define/types.ts";
import type { CallBlock, Status } from "../../src/values/entry.ts";
import type { Isolate } from "./isolate.ts";
import { entriesOf, isRunning, type Place } from "./place.ts";
import type { World } from "./world.ts";

/** Tools of the ring whose calls may run twice. */
const TWICE = /^(tool_search|note|hang|enter_plan_mode|submit_plan|transfer_task|lazy_\d|late_\d)$/;

/** The calls that a session's last answer made and that have no results yet. */
export async function openCalls(place: Place): Promise<{ seq: number; calls: readonly CallBlock[] } | null> {
  const entries = await entriesOf(place);
  const last = entries.findLast(({ entry }) => entry.kind === "assistant");
  if (last?.entry.kind !== "assistant" || callsOf(last.entry).length === 0) return null;
  const over = entries.some(({ entry }) => entry.kind === "results" && entry.of === last.seq);
  return over ? null : { seq: last.seq, calls: callsOf(last.entry) };
}

/** What the calls have to come to that a turn left open: what they said already, another run, or that nobody knows. */
export interface Owed {
  readonly seq: number;
  readonly calls: ReadonlyMap<string, Status | "again" | "interrupted">;
  /** Canaries of what they said already. */
  readonly said: readonly string[];
}

/** What is due to the open calls of a turn. `by`: the isolate that handed it over; null where it died. */
export async function owed(place: Place, by: Isolate | null, agent: Agent): Promise<Owed | null> {
  const open = await openCalls(place);
  if (open === null) return null;
  if (by !== null) place.kept = { seq: open.seq, ran: new Map(by.ran), said: by.said };
  const kept = place.kept?.seq === open.seq ? place.kept : null;
  const deployed = new Set(["tool_search", ...agent.tools.map(({ spec }) => spec.name)]);
  const due = open.calls.map(({ id, name }) => {
    const status = kept?.ran.get(id) ?? "interrupted";
    const again = TWICE.test(name) && deployed.has(name);
    return [id, status === "interrupted" && again ? "again" : status] as const;
  });
  return { seq: open.seq, calls: new Map(due), said: kept?.said ?? [] };
}

/** Checks what came of the calls that a turn had left open. `heir`: who took it up; null where nobody did. */
export async function checkOwed(world: World, place: Place, due: Owed | null, heir: Isolate | null): Promise<void> {
  const { findings, quiet } = world;
  if (due === null || findings.failure !== null || world.gone.has(place)) return;
  const found = (await entriesOf(place)).flatMap(({ entry }) =>
    (entry.kind === "results" || entry.kind === "pause") && entry.of === due.seq ? [entry] : [],
  )[0];
  if (found === undefined) {
    if (heir?.dead || (await isRunning(place))) return;
    throw findings.broken("a turn is over that owes the results of its calls");
  }
  for (const [id, what] of due.calls) {
    const waits = found.kind === "pause" && found.pauses.some(({ call }) => call === id);
    const status = waits ? "waits" : found.results.find(({ call }) => call === id)?.status;
    const again = what === "again" && heir !== null;
    // What was stopped or deleted meanwhile need not have run.
    const right = again
      ? status !== "interrupted" || quiet !== null
      : status === (what === "again" ? "interrupted" : what);
    if (!right || status === undefined)
      throw findings.broken(`the call ${id} that was left open (${what}) is ${status}`);
    findings.seen.add(again ? "call run again" : what === "interrupted" ? "call given up" : "result kept");
  }
}
