import fc from "fast-check";
import { seeded } from "../seeded.ts";
import { startWorkerd } from "../workerd.ts";
import { helperOf } from "./agent.ts";
import { history } from "./histories.ts";
import type { Copying } from "./history.ts";
import { startRingHook } from "./ring-hook.ts";
import { KEY, RingApi } from "./workerd-api.ts";
import { goOn, interrupt, mustBeExcused, patchOut, playNext } from "./workerd-client.ts";
import { copy } from "./workerd-copies.ts";
import { Journey } from "./workerd-journey.ts";
import { startModels } from "./workerd-models.ts";
import type { Look } from "./workerd-place.ts";
import type { Task } from "./workerd-tasks.ts";

const AT_ONCE = 16;
/** So many histories keep one machine busy for longer than a lease of a second at times. */
const MANY = 100;

/** What a run came to. */
export interface RingReport {
  readonly turns: number;
  readonly requests: number;
  readonly incarnations: number;
  /** What came up, and how often. */
  readonly seen: Readonly<Record<string, number>>;
  /** The first broken promise of each history that has one. */
  readonly failures: readonly string[];
}

/** `runner`: the worker exports `TurnRunner`, so a dead turn goes on by itself. */
export interface RingOptions {
  readonly runner: boolean;
  /** The name of the one history that is to be played (`h28`); all of them if not given. */
  readonly only?: string | undefined;
}

/**
 * Ring (b): histories in real workerd, in rounds on one storage folder. Each round plays turns of every history, first the
 * one that died if it is to go on; a seeded third of the turns is held at a seeded event, then workerd is killed, and all
 * go on in the next incarnation.
 */
export async function workerdRing(count: number, seed: number, { runner, only }: RingOptions): Promise<RingReport> {
  const drawn = fc.sample(history, { numRuns: count, seed });
  const meanwhile = {
    copy: (journey: Journey, of: Copying) => copy(api, journey, of),
    patch: runner ? (journey: Journey) => patchOut(api, journey) : null,
  };
  const journeys = drawn
    .map((one, index) => new Journey(`h${index}`, one, seeded(seed + index), meanwhile))
    .filter(({ name }) => only === undefined || name === only);
  const byName = new Map(journeys.map((journey) => [journey.name, journey]));
  /** The history of an agent, or of one that it hands tasks to. */
  const journeyOf = (agent: string): Journey => {
    const journey = byName.get(agent.split("-")[0] ?? "");
    if (journey === undefined) throw new Error(`${agent} is in no history`);
    return journey;
  };
  let turns = 0;
  let incarnations = 1;

  const hook = await startRingHook({
    async send(agent = "", task) {
      await (task === undefined ? journeyOf(agent) : journeyOf(agent).tasks).send(task ?? "");
      return "";
    },
    hang(agent = "", callId = "") {
      const journey = journeyOf(agent);
      return (agent === journey.name ? journey : journey.tasks).hang(callId);
    },
    answered: (agent = "") => journeyOf(agent).answered(),
    async began(agent = "", task = "", conversation = "") {
      journeyOf(agent).begins(task, conversation);
      return "";
    },
    async over(agent = "", conversation = "") {
      journeyOf(agent).tasks.over(conversation);
      return "";
    },
  });
  const models = await startModels((asked) => {
    const [, agent = "", helper] = /You are (h\d+)(-helper)?[,.]/.exec(asked.bodyText) ?? [];
    return helper === undefined ? journeyOf(agent).answer(asked) : journeyOf(agent).answerTask(asked);
  });
  const workerd = await startWorkerd({
    entry: runner ? "test/property/workerd-worker.ts" : "test/property/workerd-alone.ts",
    bindings: {
      HISTORIES: `${count}`,
      HOOK: hook.url,
      ANTHROPIC_API_KEY: "key",
      OPENAI_API_KEY: "key",
      ...models.bindings,
      HOLDFAST_API_KEYS: `ring:${KEY}`,
      HOLDFAST_LEASE_SECONDS: runner ? (count > MANY ? "2" : "1") : "0.2",
    },
  });
  const api = new RingApi(workerd);
  const dying = ({ here }: Journey) => runner && here.status === "running";

  /** Plays a history on, turn after turn, until its isolate is to die, the next one is for another process, or all is over. */
  const playOn = async (journey: Journey) => {
    if (dying(journey) && (!journey.impatient || journey.over)) await play(journey, true);
    while (!journey.isParked && !journey.over && journeys.filter(({ isParked }) => isParked).length < AT_ONCE) {
      if (journey.turn === null) {
        turns += 1;
        journey.next();
        await api.deploy([deployed(journey)]);
      }
      if (dying(journey)) interrupt(journey);
      await play(journey, false);
      if (journey.rests && journey.turn === null) return;
    }
  };
  /** Plays what is next of a history, until that is over or its isolate is to die, and checks it. */
  const play = async (journey: Journey, waits: boolean) => {
    const { here, parked } = journey;
    const mayGoOn = dying(journey) ? 1 : 0;
    const until = (played: Promise<void>) =>
      Promise.race([
        parked.promise,
        // What the process took along is no fault.
        played.catch((error) => journey.isParked || journey.fails(error)),
      ]);
    journey.trail.push(waits ? "waits" : `plays, ${here.id} is ${here.status}`);
    await until(waits ? goOn(api, journey) : playNext(api, journey, runner));
    try {
      let look = await lookAtRest(api, journey);
      // Where nobody goes on by himself, the next message does.
      const waiting = !runner && journey.turn !== null;
      while (look.status === "running" && !journey.isParked && !waiting && journey.failure === null) {
        // Whoever did not wait for a turn that goes on was told to, or the turn's isolate lost its lease, or what was
        // followed told of the pause that was answered.
        await until(goOn(api, journey));
        look = await lookAtRest(api, journey);
      }
      const handed = journey.here.handed + (here === journey.here ? mayGoOn : 0);
      const stalled = journey.here.resumedSince(look) > handed || journey.unsure > 0;
      journey.unsure = Math.max(0, journey.unsure - 1);
      if (stalled) journey.saw("stalled");
      const known = journey.here.entries.length;
      for (const what of journey.here.settle(look, journey.name, stalled)) journey.saw(what);
      for (const task of journey.tasks.all) await settleTask(api, journey, task);
      for (const what of journey.tasks.checkResults(journey.here.entries, known, stalled)) journey.saw(what);
      if (journey.isParked || waiting) return;
      if (look.status === "running") throw new Error("the turn did not end");
      if (journey.goesOn && look.status === "paused" && journey.here.open.length === 0)
        throw new Error("the turn did not go on with an answer");
      journey.goesOn = false;
      mustBeExcused(journey, stalled);
      if (waits) journey.saw(`went on, ${look.status}`);
      if (waits || journey.reads) journey.here.said = journey.here.shown;
      journey.reads = false;
    } catch (error) {
      journey.fails(error);
    }
  };

  try {
    for (let left = journeys; left.length > 0; left = left.filter((one) => !one.over || (!one.failure && dying(one)))) {
      // Those that are over may have sub-sessions that go on.
      for (const journey of journeys) journey.revive(runner);
      for (const journey of left) if (dying(journey)) journey.deploy();
      await api.deploy(left.map(deployed));
      const going = left.filter(dying);
      const others = left.filter((journey) => !dying(journey));
      await Promise.all([inTurns(going, going.length, playOn), inTurns(others, AT_ONCE, playOn)]);
      await Promise.all(journeys.map(allAtRest));
      for (const journey of left) if (journey.here.status === "paused") journey.saw("killed while paused");
      await workerd.fresh();
      incarnations += 1;
    }
    for (const journey of journeys) journey.revive(runner);
    await Promise.all(journeys.map(allAtRest));
    await inTurns(journeys, AT_ONCE, (journey) => nothingLost(api, journey));
    const seen: Record<string, number> = {};
    for (const journey of journeys) for (const [what, n] of journey.seen) seen[what] = (seen[what] ?? 0) + n;
    const failures = [...journeys.flatMap(({ failure }) => failure ?? []), ...models.problems];
    return { turns, requests: models.requests, incarnations, seen, failures };
  } finally {
    await workerd.dispose();
    await models.close();
    await hook.close();
  }
}

/** No sub-session of a history is on its way: where one is that nobody waits for, it ends by itself. */
async function allAtRest(journey: Journey): Promise<void> {
  if (journey.failure === null) await journey.tasks.rest().catch((error) => journey.fails(error));
}

/** A session as it is once its turn is over or is about to be killed, and not as it was just before. */
async function lookAtRest(api: RingApi, journey: Journey): Promise<Look> {
  for (;;) {
    const { isParked } = journey;
    if (isParked) await journey.tasks.rest();
    const look = await api.look(journey.name, journey.here.id);
    if (isParked === journey.isParked) return look;
  }
}

/** Checks a sub-session in which nothing happens: as any session, and one that is over has its whole answer. */
async function settleTask(api: RingApi, journey: Journey, task: Task): Promise<void> {
  const { place, state, conversation } = task;
  const known = place.settled && place.status !== null && place.status !== "running";
  if (known || conversation === null || state === "handed") return;
  const look = await api.look(helperOf(journey.name), conversation);
  if (place.resumedSince(look) > (task.mayGoOn ? 1 : 0)) {
    journey.saw("stalled");
    task.stalled = true;
  }
  task.mayGoOn &&= look.resumed === 0;
  if (state === "runs") return;
  try {
    place.settle(look, journey.name, task.stalled);
  } catch (error) {
    throw new Error(`task ${task.id}: ${error instanceof Error ? error.message : error}`);
  }
  if (place.messages !== 1) throw new Error(`task ${task.id} was told ${place.messages} times`);
  if (state === "over" && look.status !== "done" && !task.stalled) throw new Error(`task ${task.id} is ${look.status}`);
}

/** At the end all is still there that was there at any time. */
async function nothingLost(api: RingApi, journey: Journey): Promise<void> {
  try {
    for (const task of journey.tasks.all) await settleTask(api, journey, task);
    for (const place of journey.places) {
      place.settle(await api.look(journey.name, place.id), journey.name);
      for (const { entry } of place.entries) {
        if (entry.kind === "compaction" || entry.kind === "rewind") journey.saw(`${entry.kind} ${entry.why}`);
      }
    }
  } catch (error) {
    journey.fails(error);
  }
}

function deployed({ name, deployment, history: { model, fallback, thinking, window, textual } }: Journey) {
  return { name, deployment, model, fallback, thinking, window, textual };
}

async function inTurns<T>(list: readonly T[], atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = [...list];
  const worker = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
