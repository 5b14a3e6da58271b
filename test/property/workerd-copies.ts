import { userMessages } from "../../src/context/branch.ts";
import { toldEntries } from "../../src/context/effective.ts";
import { decodeEntry, type Numbered } from "../../src/values/entry.ts";
import { helperOf } from "./agent.ts";
import type { Copying, Sessions } from "./history.ts";
import type { Reply, RingApi } from "./workerd-api.ts";
import type { Journey } from "./workerd-journey.ts";
import { type Look, Place } from "./workerd-place.ts";

/** Copies the session, deletes it, or goes on with another. */
export async function changeSessions(api: RingApi, journey: Journey, change: Sessions): Promise<void> {
  const { places } = journey;
  if (change.kind === "clone" || change.kind === "fork") (await copy(api, journey, change))();
  if (change.kind === "delete" && places.length > 1) await remove(api, journey);
  journey.here = places[change.to % places.length] ?? journey.here;
}

/** Copies the session by the API. Answers what gives the copy its checker, once all before it was checked. */
export async function copy(api: RingApi, journey: Journey, copying: Copying): Promise<() => void> {
  const { name, here, places } = journey;
  const { entries } = await api.look(name, here.id);
  const own = messagesIn(entries);
  const messages = own.length;
  const at = copying.kind === "clone" ? null : messages - copying.back;
  const asked = at === null ? "clone" : "fork";
  const reply = await api.session("POST", name, `${here.id}/${asked}`, at === null ? undefined : { at });
  if (here.status === null && reply.status === 404) return () => {};
  if (at !== null && at < 0 && reply.status === 400) return () => {};
  const { id } = reply.body;
  if (reply.status !== 200 || id === undefined) throw new Error(`no copy at ${at} of ${messages} messages`);
  const look = await api.look(name, id, true);
  const copied = messagesIn(look.entries);
  const left = copied.length;
  if (at !== null && left !== at) throw new Error(`a fork at ${at} has ${left} messages`);
  const place = new Place(id, here);
  place.begins(look);
  place.said = place.shown;
  places.push(place);
  const ended = Object.values(look.ended);
  if (ended.includes("fork_reset")) journey.saw(`${asked} cold`);
  else if (ended.length > 0) journey.saw(`${asked} warm`);
  // A turn that runs is left out with what it took back: the copy then has other messages than its original from there on.
  const other = copied.findIndex(({ seq }, n) => seq !== own[n]?.seq);
  return () => {
    place.checker = here.checker.copy(other < 0 ? left : other, (chain) => look.ended[`${name}-${chain}`] ?? null);
  };
}

function messagesIn(entries: Look["entries"]): Numbered[] {
  return userMessages(toldEntries(entries.map(([seq, text]) => ({ seq, entry: decodeEntry(text) }))));
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
  for (const sub of journey.tasks.drop(here)) {
    if ((await api.look(helperOf(name), sub)).status !== null)
      throw new Error("a deleted session's sub-session is there");
    journey.saw("deleted with its parent");
  }
  places.splice(places.indexOf(here), 1);
}
