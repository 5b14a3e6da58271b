import { userMessages } from "../../src/context/branch.ts";
import { toldEntries } from "../../src/context/effective.ts";
import { decodeEntry } from "../../src/values/entry.ts";
import type { Copying, Sessions } from "./history.ts";
import { entriesOf, messagesOf } from "./place.ts";
import { OWNER, type World } from "./world.ts";

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
      await deleteSession(world);
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
  const answer = await here.session.branch({ v: 1, at, of: "fork" });
  if (answer === null || answer.kind === "outside") {
    if (at !== null && at < 0) return;
    throw findings.broken(`no copy at ${at} of ${messages} messages`);
  }
  const { branch } = answer;
  const taken = branch.entries.map(([seq, text]) => ({ seq, entry: decodeEntry(text) }));
  const copied = userMessages(toldEntries(taken));
  const left = copied.length;
  if (at !== null && left !== at) throw findings.broken(`a fork at ${at} has ${left} messages`);
  const ended = (chain: string) => branch.chains.find(({ key }) => key === `ring-${chain}`)?.ended ?? null;
  // A turn that runs is left out with what it took back: the copy then has other messages than its original from there on.
  const own = userMessages(toldEntries(await entriesOf(here)));
  const other = copied.findIndex(({ seq }, n) => seq !== own[n]?.seq);
  const place = world.addPlace(here.checker.copy(other < 0 ? left : other, ended), here);
  if (at === null) for (const said of here.expected) place.expected.add(said);
  place.fresh = branch.chains.some((chain) => chain.ended === "fork_reset");
  if (place.fresh) findings.seen.add("copy cold");
  else if (branch.chains.some(({ calls }) => calls.length > 0)) findings.seen.add("copy warm");
  await place.session.adopt({ owner: OWNER.id, agent: "ring", conversation: `ring-${world.places.length}` }, branch);
}

/** A session that is deleted is gone: nothing is read, begun or appended any more. */
async function deleteSession({ findings, here, places }: World): Promise<void> {
  const { session } = here;
  const there = await session.summary();
  const removed = await session.remove();
  if (removed !== (there !== null)) throw findings.broken("a session was not there to be deleted");
  const left = [
    await session.summary(),
    await session.entries(0, 10),
    await session.branch({ v: 1, at: null, of: "export" }),
  ];
  if (left.some((one) => one !== null) || (await session.remove())) throw findings.broken("a deleted session is there");
  places.splice(places.indexOf(here), 1);
}
