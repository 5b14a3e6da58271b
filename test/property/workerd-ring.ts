import fc from "fast-check";
import { userMessages } from "../../src/context/branch.ts";
import { toldEntries } from "../../src/context/effective.ts";
import { decodeEntry } from "../../src/values/entry.ts";
import { seeded } from "../seeded.ts";
import { startWorkerd } from "../workerd.ts";
import { history } from "./histories.ts";
import type { Copying, Sessions } from "./history.ts";
import { startRingHook } from "./ring-hook.ts";
import { KEY, type Reply, RingApi } from "./workerd-api.ts";
import { Journey } from "./workerd-journey.ts";
import { startModels } from "./workerd-models.ts";
import { Place } from "./workerd-place.ts";

const AT_ONCE = 16;

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
}

/**
 * Ring (b): histories in real workerd, in rounds on one storage folder. Each round plays turns of every history, first the
 * one that died if it is to go on; a seeded third of the turns is held at a seeded event, then workerd is killed, and all
 * go on in the next incarnation.
 */
export async function workerdRing(count: number, seed: number, { runner }: RingOptions): Promise<RingReport> {
  const drawn = fc.sample(history, { numRuns: count, seed });
  const journeys = drawn.map((one, index) => {
    const random = seeded(seed + index);
    return new Journey(`h${index}`, one, random, (journey, of) => copy(api, journey, of));
  });
  const byName = new Map(journeys.map((journey) => [journey.name, journey]));
  let turns = 0;
  let incarnations = 1;

  const hook = await startRingHook({
    send: async (name) => byName.get(name)?.send(),
    hang: async (name, callId) => (await byName.get(name)?.hang(callId)) ?? "Went on.",
  });
  const models = await startModels((asked) => {
    const journey = byName.get(/You are (h\d+),/.exec(asked.bodyText)?.[1] ?? "");
    if (journey === undefined) throw new Error("a request of no history");
    return journey.answer(asked);
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
      HOLDFAST_LEASE_SECONDS: runner ? "1" : "0.2",
    },
  });
  const api = new RingApi(workerd);
  const dying = ({ here }: Journey) => runner && here.status === "running";

  /** Plays a history on, turn after turn, until its isolate is to die, the next one is for another process, or all is over. */
  const playOn = async (journey: Journey) => {
    if (dying(journey) && (!journey.impatient || journey.over)) await play(journey, true);
    while (!journey.isParked && !journey.over && journeys.filter(({ isParked }) => isParked).length < AT_ONCE) {
      if (journey.turn === null) {
        journey.next();
        await api.deploy([deployed(journey)]);
      }
      if (dying(journey)) interrupt(journey);
      await play(journey, false);
      if (journey.rests) return;
    }
  };
  /** Plays what is next of a history, until that is over or its isolate is to die, and checks it. */
  const play = async (journey: Journey, waits: boolean) => {
    const { here, parked } = journey;
    const mayGoOn = dying(journey) ? 1 : 0;
    if (!waits) turns += 1;
    const until = (played: Promise<void>) =>
      Promise.race([
        parked.promise,
        // What the process took along is no fault.
        played.catch((error) => journey.isParked || journey.fails(error)),
      ]);
    await until(waits ? goOn(api, journey) : playTurn(api, journey));
    try {
      let look = await api.look(journey.name, journey.here.id);
      if (look.status === "running" && !journey.isParked) {
        // Whoever did not wait for a turn that goes on was told to, or the turn's isolate lost its lease.
        await until(goOn(api, journey));
        look = await api.look(journey.name, journey.here.id);
      }
      const stalled = journey.here.resumedSince(look) > (here === journey.here ? mayGoOn : 0);
      if (stalled) journey.saw("stalled");
      journey.here.settle(look, journey.name, stalled);
      if (journey.isParked) return;
      if (look.status === "running") throw new Error("the turn did not end");
      mustBeExcused(journey, stalled);
      if (waits) {
        journey.here.said = journey.here.shown;
        journey.saw(`went on, ${look.status}`);
      }
    } catch (error) {
      journey.fails(error);
    }
  };

  try {
    for (let left = journeys; left.length > 0; left = left.filter((one) => !one.over || (!one.failure && dying(one)))) {
      for (const journey of left) {
        journey.revive();
        if (dying(journey)) journey.deploy();
      }
      await api.deploy(left.map(deployed));
      const going = left.filter(dying);
      const others = left.filter((journey) => !dying(journey));
      await Promise.all([inTurns(going, going.length, playOn), inTurns(others, AT_ONCE, playOn)]);
      await workerd.fresh();
      incarnations += 1;
    }
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

/** What becomes of sessions before the turn, the compaction that somebody asks for, and the turn. */
async function playTurn(api: RingApi, journey: Journey): Promise<void> {
  const { name, turn } = journey;
  if (turn === null) return;
  journey.turn = { ...turn, sessions: [], compact: false };
  for (const change of turn.sessions) await changeSessions(api, journey, change);
  if (turn.compact) await compact(api, journey);
  journey.turn = null;
  const messages = journey.messages(turn);
  journey.heard(messages, null);
  const reply = await api.say(name, journey.here.id, messages);
  const answer = reply.body.choices?.[0]?.message?.content ?? null;
  if (answer !== null && answer !== "") journey.here.said.push({ role: "assistant", content: answer });
  if (answer === null) journey.why = said("a turn", reply.body.error?.message);
}

/** Something is said while the turn that died goes on, in its session: which of the two is first is open. */
function interrupt(journey: Journey): void {
  journey.saw("interrupted");
  journey.faulted = true;
  if (journey.turn !== null) journey.turn = { ...journey.turn, sessions: [] };
}

/** A turn whose isolate died goes on by itself and ends: with an answer, or with a failure that says why. */
async function goOn(api: RingApi, journey: Journey): Promise<void> {
  const last = await api.follow(journey.name, journey.here.id);
  if (last?.type === "failed") journey.why = said("a turn that went on", last.failure?.message);
  else if (last?.type !== "done") throw new Error(`a turn that went on ended by ${JSON.stringify(last)}`);
}

/** What failed, and why: nothing fails without saying so. */
function said(what: string, why: string | undefined): string {
  if (!why) throw new Error(`${what} failed and did not say why`);
  return `${what} failed: ${why}`;
}

/** What failed did so because the history made something fail, or because its isolate was too slow to keep its lease. */
function mustBeExcused({ why, faulted }: Journey, stalled: boolean): void {
  if (why !== null && !faulted && !stalled) throw new Error(why);
}

async function compact(api: RingApi, journey: Journey): Promise<void> {
  const { name, here } = journey;
  const { status, body } = await api.session("POST", name, `${here.id}/compact`);
  journey.saw(`compact ${status}`);
  if (status === 404 && here.status === null) return;
  if (status === 409 && here.status === "running") return;
  if (status !== 200) journey.why = said("a compaction", body.error?.message);
}

async function changeSessions(api: RingApi, journey: Journey, change: Sessions): Promise<void> {
  const { places } = journey;
  if (change.kind === "clone" || change.kind === "fork") (await copy(api, journey, change))();
  if (change.kind === "delete" && places.length > 1) await remove(api, journey);
  journey.here = places[change.to % places.length] ?? journey.here;
}

/** Copies the session by the API. Answers what gives the copy its checker, once all before it was checked. */
async function copy(api: RingApi, journey: Journey, copying: Copying): Promise<() => void> {
  const { name, here, places } = journey;
  const { entries } = await api.look(name, here.id);
  const messages = countOf(entries);
  const at = copying.kind === "clone" ? null : messages - copying.back;
  const asked = at === null ? "clone" : "fork";
  const reply = await api.session("POST", name, `${here.id}/${asked}`, at === null ? undefined : { at });
  if (here.status === null && reply.status === 404) return () => {};
  if (at !== null && at < 0 && reply.status === 400) return () => {};
  const { id } = reply.body;
  if (reply.status !== 200 || id === undefined) throw new Error(`no copy at ${at} of ${messages} messages`);
  const look = await api.look(name, id, true);
  const left = countOf(look.entries);
  if (at !== null && left !== at) throw new Error(`a fork at ${at} has ${left} messages`);
  const place = new Place(id, here);
  place.begins(look);
  place.said = place.shown;
  places.push(place);
  const ended = Object.values(look.ended);
  if (ended.includes("fork_reset")) journey.saw(`${asked} cold`);
  else if (ended.length > 0) journey.saw(`${asked} warm`);
  return () => {
    place.checker = here.checker.copy(left, (model) => look.ended[`${name}-${model}`] ?? null);
  };
}

function countOf(entries: Parameters<Place["begins"]>[0]["entries"]): number {
  return userMessages(toldEntries(entries.map(([seq, text]) => ({ seq, entry: decodeEntry(text) })))).length;
}

/** A session that is deleted is gone: nothing is read, said or copied any more. */
async function remove(api: RingApi, journey: Journey): Promise<void> {
  const { name, here, places } = journey;
  const removed = await api.session("DELETE", name, here.id);
  if (removed.status !== (here.status === null ? 404 : 200)) throw new Error(`deleted: ${removed.status}`);
  const left: Reply[] = [
    await api.session("GET", name, here.id),
    await api.session("GET", name, `${here.id}/entries`),
    await api.session("POST", name, `${here.id}/clone`),
  ];
  if (left.some(({ status }) => status !== 404)) throw new Error("a deleted session is there");
  if (removed.status === 200) {
    const said = await api.say(name, here.id, [{ role: "user", content: "Are you there?" }]);
    if (said.status !== 410) throw new Error(`a deleted session was spoken to: ${said.status}`);
    journey.saw("deleted");
  }
  places.splice(places.indexOf(here), 1);
}

/** At the end all is still there that was there at any time. */
async function nothingLost(api: RingApi, journey: Journey): Promise<void> {
  try {
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
