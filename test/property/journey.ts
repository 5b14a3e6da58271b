import { checkBatches } from "./batches.ts";
import { freeClock, holdClock } from "./clock.ts";
import { changeSessions, nothingIsLeft } from "./copies.ts";
import type { Findings } from "./findings.ts";
import { type History, MOST, PLAIN, type Turn } from "./history.ts";
import { freshIsolate, kill } from "./isolate.ts";
import { finishSub, release } from "./taken-up.ts";
import { tally } from "./tally.ts";
import { leaves } from "./task-events.ts";
import { canary } from "./tools.ts";
import { compactNow, takeTurn } from "./turns.ts";
import { answerPauses, sentBy, toMode } from "./user.ts";
import { World } from "./world.ts";

/**
 * Plays a history in one process: the real turn, the real session over Node's SQLite, the emulator's rules and cache.
 * Every request is checked as it goes out.
 */
export async function playHistory(history: History): Promise<Findings> {
  const { turns, least } = history;
  const world = new World(history, hangsOnce());
  const { findings } = world;
  holdClock();
  try {
    let index = 0;
    for (; index < turns.length && findings.requests < MOST - 5; index += 1)
      await play(world, turns[index] ?? PLAIN, index);
    for (; findings.requests < least && findings.failure === null; index += 1) await play(world, PLAIN, index);
    for (const sub of world.subs) if (!world.gone.has(sub)) await finishSub(world, sub);
    for (const gone of world.gone) await nothingIsLeft(world, gone);
    for (const place of [...world.places, ...world.subs]) await checkBatches(world, place);
    await tally(world);
    return findings;
  } catch (error) {
    // What follows upon the first broken promise is none of its own.
    throw findings.failure ?? error;
  } finally {
    freeClock();
  }
}

async function play(world: World, turn: Turn, index: number): Promise<void> {
  for (const change of turn.sessions) if (index > 0) await changeSessions(world, change);
  for (const deploy of turn.deploy) release(world, deploy);
  world.summaries = [...turn.summaries];
  world.isolate = freshIsolate();
  if (turn.compact && index > 0) await compactNow(world);
  if (world.isolate.dead) world.isolate = freshIsolate();
  if (turn.pauses !== null) await answerPauses(world, turn.pauses, turn.revivals);
  if (turn.mode !== null) await toMode(world, turn.mode);
  // Where the instructions changed since, the message that they speak for may be told anew behind them.
  const reworded = world.history.textual && world.deployment.instructions > 0;
  if (reworded && turn.client !== "message") world.here.checker.allow("rewind");
  const { sent, text } = await sentBy(world, turn, index);
  world.here.lastText = text;
  const clientSystem = turn.system === null ? null : `System text ${turn.system}.`;
  const { answers, background, revivals } = turn;
  await takeTurn(world, { text, answers, background, revivals, sent, clientSystem });
}

/** In the first run of each call of `hang` its isolate dies, or it leaves the turn. */
function hangsOnce(): (world: World, callId: string) => Promise<string> {
  const hung = new Set<string>();
  return async (world, callId) => {
    const { findings, isolate } = world;
    if (!hung.has(callId)) {
      hung.add(callId);
      if (isolate.inTool === "dead_in_tool") kill(isolate, "dead_in_tool", findings);
      findings.seen.add("fault handed_in_tool");
      await leaves(world);
    }
    return `Went on. ${canary(callId)}`;
  };
}
