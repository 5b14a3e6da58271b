import type { Mode, Turn } from "./history.ts";
import { RING_MODES } from "./history.ts";
import type { Reply, RingApi } from "./workerd-api.ts";
import { changeSessions } from "./workerd-copies.ts";
import type { Journey } from "./workerd-journey.ts";

/** How often an answer whose isolate died before the turn went on is given again; else a message follows it. */
const AGAIN = 3 / 4;
/** How often whoever answered a pause reads what came of it before saying something more. */
const READS = 1 / 2;

/**
 * What is next of a history: what becomes of its sessions and a compaction that somebody asks for, answers to what waits, or
 * a change of the mode and the turn.
 */
export async function playNext(api: RingApi, journey: Journey, runner: boolean): Promise<void> {
  const { turn, here } = journey;
  if (turn === null) return;
  if (turn.sessions.length > 0 || turn.compact) {
    journey.turn = { ...turn, sessions: [], compact: false };
    for (const change of turn.sessions) await changeSessions(api, journey, change);
    if (turn.compact) await compact(api, journey);
  } else if (turn.pauses !== null && here.status === "paused") {
    await answerPauses(api, journey, turn, runner);
  } else {
    if (turn.mode !== null) await toMode(api, journey, turn.mode);
    journey.plan(turn.answers);
    journey.turn = null;
    await sayNext(api, journey, turn);
  }
}

async function sayNext(api: RingApi, journey: Journey, turn: Turn): Promise<void> {
  const messages = journey.messages(turn);
  journey.heard(messages, null);
  const reply = await api.say(journey.name, journey.here.id, messages);
  const answer = reply.body.choices?.[0]?.message?.content ?? null;
  if (answer !== null && answer !== "") journey.here.said.push({ role: "assistant", content: answer });
  if (answer === null) journey.why = said("a turn", reply.body.error?.message);
}

/** Answers what waits. With the last answer the turn goes on: by itself where the worker has a runner. */
async function answerPauses(api: RingApi, journey: Journey, turn: Turn, runner: boolean): Promise<void> {
  const { here, name } = journey;
  const { approve, answers } = turn.pauses ?? { approve: false, answers: [] };
  const { pauses = [] } = (await api.session("GET", name, `${here.id}/pauses`)).body;
  const open = pauses.map(({ id }) => id).join();
  if (open !== here.open.join()) throw new Error(`the pauses ${open} are open, and not ${here.open.join()}`);
  journey.plan(answers);
  for (const { id, kind } of pauses) {
    const reason = `No ${id}.`;
    const answer =
      kind === "question"
        ? { answer: `Answer ${id}.` }
        : approve
          ? { decision: "approve" }
          : { decision: "deny", reason };
    const text = kind === "question" ? `Answer ${id}.` : approve ? "approved" : reason;
    here.answers.set(id, { status: kind === "plan" && !approve ? "denied" : "ok", text });
    here.posted = { pause: id, answer };
    journey.saw(kind === "question" ? "pause answered" : `plan ${answer.decision}`);
    if (id !== pauses.at(-1)?.id) await post(api, journey, false);
  }
  if (pauses.length === 0) {
    const again = here.posted !== null && journey.random() < AGAIN;
    journey.saw(again ? "answered again" : "answered, then talked over");
    if (!again) here.posted = null;
  }
  if (here.posted !== null) await goOnWithAnswer(api, journey, runner);
  journey.turn = { ...turn, pauses: null };
}

async function goOnWithAnswer(api: RingApi, journey: Journey, runner: boolean): Promise<void> {
  const { here, turn } = journey;
  if (!runner) {
    // Nobody can be asked to go on: the next message does.
    const { status } = await post(api, journey, null);
    if (status < 500) throw new Error(`without a runner an answer came to ${status}`);
    here.posted = null;
    return;
  }
  await post(api, journey, true);
  here.posted = null;
  here.handed += 1;
  journey.goesOn = true;
  // Should its isolate die now, it is not answered again.
  if (turn !== null) journey.turn = { ...turn, pauses: null };
  await goOn(api, journey);
  journey.saw("went on with an answer");
  journey.reads = journey.random() < READS;
}

/** Gives the last answer. `goesOn`: what has to be said of the turn; null where it is not told. */
async function post(api: RingApi, { here, name }: Journey, goesOn: boolean | null): Promise<Reply> {
  if (here.posted === null) throw new Error("there is no answer to give");
  const { pause, answer } = here.posted;
  const reply = await api.session("POST", name, `${here.id}/pauses/${pause}`, answer);
  if (goesOn !== null && (reply.status !== 200 || reply.body.goesOn !== goesOn))
    throw new Error(`an answer came to ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply;
}

/** Puts the session into a mode, if it is there and no turn runs in it. */
async function toMode(api: RingApi, journey: Journey, mode: Mode): Promise<void> {
  const { here, name } = journey;
  const { status, body } = await api.session("PATCH", name, here.id, { mode });
  if (status === 404 && here.status === null) return;
  if (status === 409 && here.status === "running") return;
  if (status !== 200 || body.mode !== mode) throw new Error(`the mode ${mode} came to ${status} ${body.mode}`);
  here.patch(mode);
  journey.saw(`mode ${mode}`);
}

/** Tries to change the mode while a request is out: that is refused, unless the turn's lease ran out meanwhile. */
export async function patchOut(api: RingApi, journey: Journey): Promise<void> {
  const { here, name, random } = journey;
  const mode = RING_MODES[Math.floor(random() * RING_MODES.length)] ?? "agent";
  const { status } = await api.session("PATCH", name, here.id, { mode });
  journey.saw(status === 409 ? "mode refused" : "stalled");
  if (status === 409) return;
  if (status !== 200) throw new Error(`the mode ${mode} came to ${status} while a turn ran`);
  here.patch(mode);
  journey.faulted = true;
}

/** Something is said while the turn that died goes on, in its session: which of the two is first is open. */
export function interrupt(journey: Journey): void {
  journey.saw("interrupted");
  journey.faulted = true;
  if (journey.turn !== null) journey.turn = { ...journey.turn, sessions: [] };
}

/** A turn whose isolate died goes on by itself and ends: with an answer, or with a failure that says why. */
export async function goOn(api: RingApi, journey: Journey): Promise<void> {
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
export function mustBeExcused({ why, faulted }: Journey, stalled: boolean): void {
  if (why !== null && !faulted && !stalled) throw new Error(why);
}

async function compact(api: RingApi, journey: Journey): Promise<void> {
  const { name, here } = journey;
  const { status, body } = await api.session("POST", name, `${here.id}/compact`);
  journey.saw(`compact ${status}`);
  if (status === 404 && here.status === null) return;
  if (status === 409 && (here.status === "running" || here.status === "paused")) return;
  if (status !== 200) journey.why = said("a compaction", body.error?.message);
}
