import { compactSession } from "../../src/turn/compact-session.ts";
import { plainRequest } from "../../src/turn/plain-request.ts";
import { runTurn } from "../../src/turn/run.ts";
import type { TurnRequest } from "../../src/turn/runtime.ts";
import { startInBackground } from "../../src/turn/start.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import type { Planned, Revival } from "./history.ts";
import { hostOf, inIsolate, isolateFor } from "./in-isolate.ts";
import { isRunning, type Place } from "./place.ts";
import { COMES, finishSub, goesOn, takeUp } from "./taken-up.ts";
import { ENV, OWNER, type World } from "./world.ts";

/** A turn as it is asked for: its message, what the model answers in it, and what takes it up. */
export interface AskedTurn extends Pick<Partial<TurnRequest>, "sent" | "clientSystem" | "goOn"> {
  readonly text: string;
  readonly answers: readonly Planned[];
  readonly background?: boolean;
  readonly revivals: readonly Revival[];
}

/** Runs a turn in an isolate of its own, and in those that take it up. Throws if it fails for another reason than the history's. */
export async function takeTurn(
  world: World,
  { text, answers, background = false, revivals, ...asked }: AskedTurn,
): Promise<void> {
  const { agent, findings, here } = world;
  const left = await runningSubsOf(world, here);
  const isolate = isolateFor(world, answers, text);
  world.client = new AbortController();
  const conversation = { id: here.id.conversation, minted: true };
  const request: TurnRequest = {
    ...plainRequest({ agent, owner: OWNER, conversation, requestId: "ring" }, [{ type: "text", text }]),
    ...asked,
    signal: world.client.signal,
  };
  if (background) {
    findings.seen.add("background");
    await startInBackground(hostOf(world, isolate, here), ENV, request);
  } else {
    await inIsolate(world, isolate, here, (deps) => runTurn(deps, request, `turn_${world.mint()}`));
  }
  // A turn that goes on from a pause had not failed.
  here.attempts = isolate.resumed && !asked.goOn ? here.attempts + 1 : 1;
  await takeUp(world, here, background ? [{ ...COMES, answers }, ...revivals] : revivals);
  if (world.refusedForLength) {
    world.refusedForLength = false;
    here.checker.allow("rewind");
    here.expected.clear();
  }
  for (const sub of world.ending === "stopped" ? await runningSubsOf(world, here) : []) {
    if (left.includes(sub) || !(await goesOn(world, sub))) continue;
    throw findings.broken("a turn was stopped, and a task that it handed over goes on");
  }
  const running = await runningSubsOf(world, here);
  world.quiet = null;
  world.ending = null;
  // A message came where the turn died: what it had handed over goes on by itself.
  if (await isRunning(here)) return;
  if (running.length > 0) findings.seen.add("sub-session without its turn");
  for (const sub of running) await finishSub(world, sub);
}

async function runningSubsOf(world: World, place: Place): Promise<Place[]> {
  const subs = world.subsOf(place);
  const running = await Promise.all(subs.map(isRunning));
  return subs.filter((_, index) => running[index]);
}

/** Somebody asks for a compaction, which may fail as a turn may. */
export async function compactNow(world: World): Promise<void> {
  const { agent, findings, here, isolate } = world;
  const asked = { agent, owner: OWNER, requestId: "ring", conversation: here.id.conversation };
  findings.seen.add("compaction asked");
  try {
    await compactSession(hostOf(world, isolate, here), ENV, { waitUntil: () => {} }, asked);
  } catch (error) {
    if (findings.failure !== null) return;
    if (!(error instanceof HoldfastError)) throw error;
    const { reason, message } = error.failure;
    if (!["provider", "busy", "lost"].includes(reason)) throw new Error(`a compaction failed: ${reason}: ${message}`);
  }
}
