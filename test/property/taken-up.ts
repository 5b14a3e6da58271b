import type { TurnJob } from "../../src/session/host.ts";
import { sessionName } from "../../src/session/name.ts";
import { idle } from "./clock.ts";
import { nothingIsLeft, removePlace } from "./copies.ts";
import { applyDeploy } from "./deployment.ts";
import type { Deploy, Revival } from "./history.ts";
import { resume, type Taken } from "./in-isolate.ts";
import { LEASE_SECONDS } from "./isolate.ts";
import { checkOwed, openCalls, owed } from "./owed.ts";
import { isRunning, type Place } from "./place.ts";
import { resumeSub } from "./sub-session.ts";
import { taskIn } from "./task.ts";
import type { World } from "./world.ts";

const LEASE_MS = LEASE_SECONDS * 1000 + 1;

/** A turn's isolates are lost so often before it is given up. */
const MOST_ATTEMPTS = 3;

/** An isolate comes for a turn that was given out. */
export const COMES: Revival = {
  ...{ how: "goes_on", deploy: [], answers: [], order: "at_once", forgets: false, lost: false },
};

/** What becomes of the turn that just ran there, as often as its isolate left it before its end. */
export async function takeUp(world: World, here: Place, revivals: readonly Revival[]): Promise<void> {
  const left = [...revivals];
  const { findings } = world;
  if (findings.failure !== null) throw findings.failure;
  while (!world.gone.has(here) && (await isRunning(here))) {
    const handed = world.jobs.some((job) => isOf(here, job));
    if (!handed && !world.isolate.dead) throw findings.broken("a turn is over, and its session does not know it");
    const stopped = world.ending === null ? null : ({ ...COMES, how: "stopped" } as const);
    const revival = stopped ?? left.shift() ?? (handed ? COMES : null);
    // Left to the next message.
    if (revival === null) world.now += LEASE_MS;
    if (revival === null) return;
    await revive(world, here, revival, handed);
  }
  if (world.gone.has(here)) await nothingIsLeft(world, here);
}

/** The changes of a deploy, whenever it comes. */
export function release({ deployment, findings, places }: World, deploy: Deploy): void {
  applyDeploy(deployment, deploy);
  findings.seen.add(`deploy ${deploy.kind}`);
  for (const { checker } of places) {
    checker.deployed();
    if (deploy.kind === "renderer") checker.allow("renderer");
    if (deploy.kind === "revise") checker.allow("revoked");
  }
}

async function revive(world: World, here: Place, revival: Revival, handed: boolean): Promise<void> {
  const { findings, isolate } = world;
  const { how, forgets, lost, deploy } = revival;
  if (deploy.length > 0) findings.seen.add("deploy before it is taken up");
  for (const one of deploy) release(world, one);
  const subs = await runningSubs(world, here);
  if (how === "goes_on") {
    findings.seen.add(`taken up ${handed ? "handed" : isolate.fault}`);
    if (lost && handed) findings.seen.add("given out in vain");
  } else {
    findings.seen.add(`${how} while nobody runs it`);
    if (how === "deleted") await removePlace(world, here);
    else if (world.ending === null) await here.session.stop();
    await idle();
    world.ending = how;
    world.quiet = how;
  }
  if (forgets) here.forget();
  if (lost) world.jobs.splice(0);
  const due = await owed(here, handed ? isolate : null, world.agent);
  const waits = handed && !lost;
  if (!waits) world.now += LEASE_MS;
  if (how !== "goes_on") return ended(world, how, here, subs);
  const job = waits ? take(world, here) : await alarm(world, here);
  if (!waits) here.attempts += 1;
  if (job === undefined) {
    if (here.attempts <= MOST_ATTEMPTS) throw findings.broken("nobody is asked to go on with a turn that died");
    findings.seen.add("given up");
    return checkOwed(world, here, due, null);
  }
  if (!waits && here.attempts > MOST_ATTEMPTS) throw findings.broken(`a turn that died ${MOST_ATTEMPTS} times goes on`);
  await together(world, here, revival, { job, said: due?.said ?? [] }, subs);
  await checkOwed(world, here, due, world.isolate);
  await twice(world, here, job);
}

/** The turn goes on, and the sub-sessions that it left, in the order of the history. */
async function together(
  world: World,
  here: Place,
  { order, answers, forgets }: Revival,
  taken: Taken,
  subs: readonly Place[],
): Promise<void> {
  const own = () => resume(world, here, taken, answers);
  const theirs = subs.filter((sub) => !world.gone.has(sub));
  // What was handed over with the turn is taken up as the turn is.
  const given = theirs.some((sub) => world.jobs.some((one) => isOf(sub, one)));
  if (theirs.length > 0) world.findings.seen.add(`taken up, first ${given && order === "parent" ? "at_once" : order}`);
  if (order === "subs") {
    // The one below first where it may seem alive: whoever joined it would wait for it.
    for (const sub of forgets || given ? theirs.toReversed() : theirs) {
      if (forgets) sub.forget();
      await finishSub(world, sub);
    }
    await own();
  } else if (order === "parent" && !given) {
    await own();
  } else {
    const jobs: [Place, TurnJob][] = [];
    for (const sub of theirs) {
      const one = take(world, sub) ?? (await alarm(world, sub));
      if (one !== undefined) jobs.push([sub, one]);
    }
    world.atOnce = jobs.length > 0;
    await Promise.all([own(), ...jobs.map(([sub, one]) => resumeSub(world, sub, one))]);
    world.atOnce = false;
  }
}

/** Sees a sub-session to the end of its turn, in isolates of its own. */
export async function finishSub(world: World, sub: Place): Promise<void> {
  for (let n = 0; n <= MOST_ATTEMPTS && (await isRunning(sub)); n++) {
    const job = take(world, sub) ?? (await alarm(world, sub));
    if (job !== undefined) await resumeSub(world, sub, job);
    if (await isRunning(sub)) world.now += LEASE_MS;
  }
  if (await isRunning(sub)) throw world.findings.broken("a sub-session is never over");
}

/** Whether somebody is asked to go on with a sub-session once its lease has run out: with one that was told to stop nobody is. */
export async function goesOn(world: World, sub: Place): Promise<boolean> {
  return (take(world, sub) ?? (await alarm(world, sub))) !== undefined;
}

/** The lease's alarm rings in a session whose turn died. Answers the turn, if somebody is asked to go on with it. */
async function alarm(world: World, place: Place): Promise<TurnJob | undefined> {
  await place.alarm();
  await idle();
  const job = take(world, place);
  if (job !== undefined || !(await isRunning(place))) return job;
  // An object that was made anew gives it a whole lease.
  world.now += LEASE_MS;
  await place.alarm();
  await idle();
  return take(world, place);
}

/** The turn was stopped, or its session deleted: nobody asks a model for it or for what it handed over, whoever is asked to. */
async function ended(world: World, how: Revival["how"], here: Place, subs: readonly Place[]): Promise<void> {
  const { findings } = world;
  for (const place of [here, ...subs]) {
    const job = take(world, place) ?? (world.gone.has(place) ? undefined : await alarm(world, place));
    if (job === undefined) continue;
    if (place === here) await resume(world, here, { job, said: [] }, []);
    else await resumeSub(world, place, job);
  }
  for (const place of [here, ...subs]) {
    const status = (await place.session.summary())?.status;
    const right = how === "stopped" ? status === "stopped" : status === undefined;
    if (!right) throw findings.broken(`a turn was ${how} before another isolate came, and it is ${status}`);
  }
}

/** Whoever comes second for a turn gets nothing. */
async function twice(world: World, place: Place, job: TurnJob): Promise<void> {
  const { isolate, quiet, plan } = world;
  world.quiet = "somebody else had come for the turn";
  await resume(world, place, { job, said: [] }, []);
  Object.assign(world, { isolate, quiet, plan });
}

function take({ jobs }: World, place: Place): TurnJob | undefined {
  const at = jobs.findIndex((job) => isOf(place, job));
  return at < 0 ? undefined : jobs.splice(at, 1)[0];
}

function isOf({ id }: Place, job: TurnJob): boolean {
  return sessionName(job.id) === sessionName(id);
}

/** The sub-sessions of the turn's open calls, and theirs, as far as they run. */
async function runningSubs(world: World, here: Place): Promise<Place[]> {
  const calls = (await openCalls(here))?.calls ?? [];
  const begun = calls.flatMap(({ name, input }) =>
    name === "transfer_task" ? (taskIn(world, input).place ?? []) : [],
  );
  const subs = begun.flatMap((sub) => [sub, ...world.subsOf(sub)]);
  const running = await Promise.all(subs.map(isRunning));
  return subs.filter((_, index) => running[index]);
}
