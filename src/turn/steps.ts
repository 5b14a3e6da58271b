import type { EventLog } from "../session/event-log.ts";
import type { CallBlock } from "../values/entry.ts";
import { askModel } from "./ask-model.ts";
import { type Asked, answered, assistantEntry, endTurn } from "./end-turn.ts";
import { awake } from "./fallback.ts";
import type { HeldTurn } from "./held-turn.ts";
import { overLimit } from "./over-limit.ts";
import { prepareFirst, type Ready } from "./ready.ts";
import { type Next, resumeCalls, runCalls } from "./run-calls.ts";
import { shortenedBy } from "./shorten.ts";

/** The steps of a turn that has begun: ask the model, run its calls, ask again. */
export async function takeSteps(turn: HeldTurn): Promise<void> {
  const { agent, conversation } = turn.request;
  const { sink, now } = turn.deps;
  const { step, pending, resting = [] } = turn.start;
  const { turn: id } = turn.start;
  if (sink.log.last === 0) sink.emit({ type: "started", turn: id, conversation: conversation.id, agent: agent.name });
  // The step was under way where the turn was before.
  else if (isUnderWay(sink.log, step)) sink.emit({ type: "withdrawn", step: step + 1 });
  // Where all of them rest, the agent's own is asked: somebody has to be.
  const first = awake(turn.models, resting, now());
  if (first !== null && first !== turn.model) await turn.switchTo(first);
  const repeats = new Repeats();
  let next: Next = pending === null ? "prepare" : await resumeCalls(turn, pending);
  while (next !== "ended") {
    if (turn.pulse.leaves) return turn.handOver();
    await refuseOverLimit(turn);
    turn.step += 1;
    const ready: Ready = next === "prepare" ? await prepareFirst(turn) : next;
    const asked = await askModel(turn, ready);
    next = asked === null ? "ended" : await goOn(turn, asked, repeats);
  }
}

/** Ends the turn, and throws why, where it may not take another step. */
async function refuseOverLimit(turn: HeldTurn): Promise<void> {
  const { budget, subrequests } = turn;
  if (!budget.take()) {
    const message = `The turn stopped after ${budget.taken.calls} model calls, which is this agent's limit.`;
    await turn.fail({ reason: "limit", limit: "steps", message });
  }
  if (subrequests.isSpent) await turn.fail(subrequests.failure().failure);
  const over = overLimit(turn.request.agent.limits, budget, turn.ms);
  if (over !== null) await turn.fail(over);
}

/** After a whole answer: runs its calls and saves the next request, or ends the turn. */
async function goOn(turn: HeldTurn, asked: Asked, repeats: Repeats): Promise<Next> {
  const { prepared, answer, call } = asked;
  const { calls } = answer;
  const { summary = null, raw = "" } = answer.compacted ?? {};
  if (summary !== null) {
    await shortenedBy(turn, { summary, raw }, call);
    return "prepare";
  }
  const more = answer.stop === "paused" || (calls.length > 0 && (answer.stop === "calls" || answer.stop === "end"));
  if (!more) {
    await endTurn(turn, asked, null);
    return "ended";
  }
  const seq = turn.conversation.add(assistantEntry(turn, prepared, answer));
  if (answer.stop === "paused") {
    await turn.save("answer", { ...answered(turn, asked), sentThrough: seq });
    return "prepare";
  }
  await turn.save("answer", answered(turn, asked));
  const times = repeats.count(calls);
  if (times >= turn.request.agent.limits.repeats) {
    const text = `Not run: the same calls were made ${times} times in a row.`;
    turn.addResults(
      seq,
      calls.map((one) => turn.unrun(one, text, "denied")),
    );
    return turn.fail({ reason: "limit", limit: "repeats", message: `The turn stopped: ${text}` });
  }
  return runCalls(turn, seq, calls, prepared);
}

/** How often in a row a model has made the same calls. */
class Repeats {
  #last = "";
  #times = 0;

  count(calls: readonly CallBlock[]): number {
    const batch = JSON.stringify(calls.map(({ name, input }) => [name, input]));
    this.#times = batch === this.#last ? this.#times + 1 : 1;
    this.#last = batch;
    return this.#times;
  }
}

/** Whether the step after so many was begun where the turn was before. */
function isUnderWay(log: EventLog, steps: number): boolean {
  return log.all.some((event) => event.type === "request" && event.step > steps);
}
