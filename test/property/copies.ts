import { userMessages } from "../../src/context/branch.ts";
import { toldEntries } from "../../src/context/effective.ts";
import { decodeEntry, type Numbered } from "../../src/values/entry.ts";
import type { Copying, Sessions } from "./history.ts";
import { entriesOf, messagesOf, type Place } from "./place.ts";
import type { World } from "./world.ts";

/** Copies the session, deletes it, or goes on with another. */
export async function changeSessions(world: World, change: Sessions): Promise<void> {
  world.findings.seen.add(`session ${change.kind}`);
  switch (change.kind) {
    case "clone":
    case "fork":
      await copySession(world, change);
      break;
    case "delete":
      if (world.places.length === 1) return;
      await removePlace(world, world.here);
      break;
    case "switch":
      break;
  }
  world.here = world.places[change.to % world.places.length] ?? world.here;
}

/** A copy is a session of its own: what it takes is checked here, its requests as any other's. */
export async function copySession(world: World, copying: Copying): Promise<void> {
  const { findings, here } = world;
  const messages = await messagesOf(here);
  const at = copying.kind === "clone" ? null : messages - copying.back;
  // What is stored while the copy is made may not be in it.
  const said = [...here.expected];
  const answer = await here.session.branch({ v: 1, at, of: "fork" });
  if (answer === null || answer.kind === "outside") {
    if (at !== null && at < 0) return;
    throw findings.broken(`no copy at ${at} of ${messages} messages`);
  }
  const { branch } = answer;
  const taken = branch.entries.map(([seq, text]) => ({ seq, entry: decodeEntry(text) }));
  const left = userMessages(toldEntries(taken)).length;
  if (at !== null && left !== at) throw findings.broken(`a fork at ${at} has ${left} messages`);
  const ended = (chain: string) => branch.chains.find(({ key }) => key === `ring-${chain}`)?.ended ?? null;
  const same = sameMessages(await entriesOf(here), taken);
  const place = world.addPlace(here.checker.copy(same ?? left, ended), here);
  if (at === null) for (const one of said) place.expected.add(one);
  place.fresh = branch.chains.some((chain) => chain.ended === "fork_reset");
  if (place.fresh) findings.seen.add("copy cold");
  else if (branch.chains.some(({ calls }) => calls.length > 0)) findings.seen.add("copy warm");
  await place.session.adopt(place.id, branch);
}

/**
 * How many messages a copy and its original have in common, with all that was said to them; null for all of them. A turn
 * that runs is left out with what it took back, an answer or a message: from there on the copy has another history.
 */
function sameMessages(original: readonly Numbered[], copy: readonly Numbered[]): number | null {
  const said = (entries: readonly Numbered[]) =>
    toldEntries(entries).filter(({ entry }) => entry.kind === "user" || entry.kind === "assistant");
  const own = said(original);
  const copied = said(copy);
  const other = copied.findIndex(({ seq }, n) => own[n] !== undefined && own[n].seq !== seq);
  if (other < 0) return null;
  const before = userMessages(copied.slice(0, other)).length;
  return copied[other]?.entry.kind === "user" ? before : Math.max(0, before - 1);
}

/**
 * Deletes a session, and goes on with another one: with a copy of it where there is none. What it handed over goes with it,
 * and its copies stay as they are, with theirs.
 */
export async function removePlace(world: World, place: Place): Promise<void> {
  const { findings, places } = world;
  if (places.length === 1) await copySession(world, { kind: "clone" });
  const copies = places.filter(({ of }) => of === place);
  const stay = copies.flatMap((copy) => [copy, ...world.subsOf(copy)]);
  const before = await Promise.all(stay.map(told));
  const { session } = place;
  const there = await session.summary();
  const removed = await session.remove();
  if (removed !== (there !== null)) throw findings.broken("a session was not there to be deleted");
  const left = [
    await session.summary(),
    await session.entries(0, 10),
    await session.branch({ v: 1, at: null, of: "export" }),
  ];
  if (left.some((one) => one !== null) || (await session.remove())) throw findings.broken("a deleted session is there");
  const subs = world.subsOf(place);
  if (subs.length > 0) findings.seen.add("deleted with sub-sessions");
  if (subs.length > 0 && copies.length > 0) findings.seen.add("deleted with sub-sessions, but for copies");
  for (const gone of [place, ...subs]) world.gone.add(gone);
  await nothingIsLeft(world, place);
  const after = await Promise.all(stay.map(told));
  if (after.some((text, index) => text !== before[index])) throw findings.broken("a copy went with its original");
  places.splice(places.indexOf(place), 1);
  if (world.here === place) world.here = places[0] ?? place;
}

/** Of a session that was deleted there is nothing, nor of what it handed over, whatever went on when it was. */
export async function nothingIsLeft(world: World, place: Place): Promise<void> {
  for (const one of [place, ...world.subsOf(place)]) {
    if ((await one.session.summary()) === null) continue;
    throw world.findings.broken(
      `${one === place ? "a deleted session" : "a sub-session of a deleted one"} is there again`,
    );
  }
}

async function told(place: Place): Promise<string> {
  return JSON.stringify([(await place.session.summary())?.status, await place.session.entries(0, 100_000)]);
}
