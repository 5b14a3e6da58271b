import { changeSessions } from "./copies.ts";
import { applyDeploy } from "./deployment.ts";
import type { Findings } from "./findings.ts";
import { type Deploy, type History, MOST, PLAIN, type Turn } from "./history.ts";
import { freshIsolate, kill } from "./isolate.ts";
import { tally } from "./tally.ts";
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
  let index = 0;
  for (; index < turns.length && findings.requests < MOST - 5; index += 1)
    await play(world, turns[index] ?? PLAIN, index);
  for (; findings.requests < least && findings.failure === null; index += 1) await play(world, PLAIN, index);
  await tally(world);
  return findings;
}

async function play(world: World, turn: Turn, index: number): Promise<void> {
  for (const change of turn.sessions) if (index > 0) await changeSessions(world, change);
  for (const deploy of turn.deploy) release(world, deploy, turn);
  world.summaries = [...turn.summaries];
  world.isolate = freshIsolate();
  if (turn.compact && index > 0) await compactNow(world);
  if (world.isolate.dead) world.isolate = freshIsolate();
  if (turn.pauses !== null) await answerPauses(world, turn.pauses, index);
  if (turn.mode !== null) await toMode(world, turn.mode);
  const { sent, text } = await sentBy(world, turn, index);
  world.here.lastText = text;
  const clientSystem = turn.system === null ? null : `System text ${turn.system}.`;
  await takeTurn(world, { text, answers: turn.answers, index, sent, clientSystem });
}

function release({ deployment, findings, history, places }: World, deploy: Deploy, turn: Turn): void {
  applyDeploy(deployment, deploy);
  findings.seen.add(`deploy ${deploy.kind}`);
  for (const { checker } of places) {
    if (deploy.kind === "renderer") checker.allow("renderer");
    if (deploy.kind === "revise") checker.allow("revoked");
    // The message it speaks for may be told anew behind it.
    if (deploy.kind === "instructions" && history.textual && turn.client !== "message") checker.allow("rewind");
  }
}

/** The first run of each call of `hang` takes its isolate with it. */
function hangsOnce(): (world: World, callId: string) => Promise<string> {
  const hung = new Set<string>();
  return async ({ findings, isolate }, callId) => {
    if (!hung.has(callId)) {
      hung.add(callId);
      kill(isolate, "dead_in_tool", findings);
    }
    return `Went on. ${canary(callId)}`;
  };
}
