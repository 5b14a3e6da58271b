import { RETRIES } from "../providers/contract.ts";
import type { CallRecord } from "../session/contract.ts";
import type { Failure } from "../values/errors.ts";
import { SEARCH_TOOL } from "../values/tool.ts";
import { askOnce } from "./ask-once.ts";
import { callRecord } from "./call-record.ts";
import { withoutBlock } from "./compact.ts";
import { type Asked, endTurn } from "./end-turn.ts";
import { awake, fallsBack, PATIENCE_SECONDS, restAfter } from "./fallback.ts";
import type { HeldTurn } from "./held-turn.ts";
import { answeredWrite, lost } from "./journal.ts";
import type { Prepared } from "./prepare.ts";
import { prepareFirst, prepareNext, type Ready } from "./ready.ts";
import { isTooLong, refusesItsOwn } from "./refused.ts";
import { shorten } from "./shorten.ts";

/**
 * Sends a request and takes the answer. One that the provider calls too long is sent once more after a compaction
 * (`again`), one that a model can't take now goes to the next one. Returns null when the turn ended with it.
 */
export async function askModel(turn: HeldTurn, { prepared, saved }: Ready, again = false): Promise<Asked | null> {
  const { conversation, pulse } = turn;
  const over = pulse.check();
  if (over === "lost") throw lost();
  if (over === "handed") {
    await turn.handOver();
    return null;
  }
  if (over === "cancelled") {
    // Whoever asked has left before anything was sent.
    await turn.stop();
    return null;
  }
  const before = conversation.aside();
  const { answer, failure: thrown, kept, call } = await send(turn, prepared);
  if (pulse.ended === "lost") throw lost();
  const failure = turn.expired() ?? thrown;
  const asked = { prepared, saved, answer, call };
  if (pulse.ended === "handed") {
    await turn.handOver({ call, ...answeredWrite(prepared, turn.key, saved, answer.begun, kept) });
    return null;
  }
  if (failure === null && pulse.ended === null) return asked;
  if (failure !== null && pulse.ended === null && !answer.begun) {
    const ready = fallsBack(failure) ? await fallBack(turn, call) : null;
    if (ready !== null) return askModel(turn, ready);
    if (!again && refusesItsOwn(failure) && !isTooLong(failure))
      return askModel(turn, await withoutItsOwn(turn, call), true);
    if (!again && turn.request.agent.compaction.automatic && isTooLong(failure)) {
      await turn.saveCall(call);
      if (await shorten(turn, "too_long", before)) return askModel(turn, await prepareFirst(turn), true);
      return cut(turn, { ...asked, call: null }, failure);
    }
  }
  return cut(turn, asked, failure);
}

/** One call of the model, told to whoever listens, and its record. `kept`: what came is a message of the conversation. */
async function send(turn: HeldTurn, prepared: Prepared) {
  const { conversation, pulse, step } = turn;
  const { sink, env, now, observe } = turn.deps;
  const { provider, name, full } = turn.model;
  const patience = turn.request.agent.fallback.length > 0 ? { patience: PATIENCE_SECONDS } : {};
  sink.emit({ type: "request", step, verdict: prepared.verdict, model: full });
  conversation.sent(prepared.chain);
  turn.subrequests.model(RETRIES);
  const asking = { env, signal: pulse.signal, ...patience };
  const { answer, failure, startedAt, firstAt } = await askOnce(turn.model, prepared.body, asking, now, (event) => {
    if (event.type === "begun") tellBegun(turn, prepared);
    if (event.type === "text" || event.type === "thinking") sink.emit({ ...event, step });
  });
  turn.uses(answer.usage);
  // Of an answer that is handed over with its turn nothing is kept.
  const kept = answer.isMessage && pulse.ended !== "handed";
  if (answer.begun) conversation.answered(prepared, answer, kept);
  const endedAt = now();
  const about = { turn: turn.start.turn, step, at: endedAt, model: full, chain: turn.key };
  const call = callRecord(about, prepared, answer, kept, restAfter(failure, endedAt));
  observe?.({
    ...{ type: "model", startedAt, firstAt, endedAt, provider: provider.name, model: name },
    record: call,
    failure: pulse.ended === null ? failure : null,
  });
  return { answer, failure, kept, call };
}

/** The answer begins; the host search that was made for its request is told only now that it was taken. */
function tellBegun({ deps: { sink }, step }: HeldTurn, { searched }: Prepared): void {
  sink.emit({ type: "answering", step });
  if (searched === null) return;
  const input = JSON.stringify({ query: searched.names.join(", ") });
  sink.emit({ type: "call", step, id: searched.call, name: SEARCH_TOOL, input, host: true });
}

/**
 * Makes the request anew for the next model, after one that failed before its answer began. Null where there is none.
 * What is marked stays marked: the deferrals are the session's, whatever the model.
 */
async function fallBack(turn: HeldTurn, call: CallRecord): Promise<Ready | null> {
  const next = awake(turn.models.slice(1), turn.start.resting ?? [], turn.deps.now());
  if (next === null) return null;
  await turn.saveCall(call);
  await turn.switchTo(next);
  return prepareNext(turn, "before");
}

/**
 * Begins new epochs, which replay no thinking, after the provider refused what it once signed or encrypted itself: another
 * account or address answers now, and it would refuse every later request too. A compaction of its own that it can't
 * read any more is left to our words.
 */
async function withoutItsOwn(turn: HeldTurn, call: CallRecord): Promise<Ready> {
  await turn.saveCall(call, { ends: "settings" });
  await turn.switchTo(turn.model);
  const whole = await turn.setup.whole();
  const compaction = withoutBlock(turn.setup, whole, turn.start.turn);
  if (compaction !== null) turn.conversation.compact(compaction, whole, null);
  return prepareFirst(turn);
}

/** Ends the turn with what there is of an answer that did not come to its end. */
async function cut(turn: HeldTurn, asked: Asked, failure: Failure | null): Promise<null> {
  const cancelled = turn.pulse.ended === "cancelled";
  asked.answer.stop = cancelled ? "stopped" : "cut";
  await endTurn(turn, asked, cancelled ? null : failure);
  return null;
}
