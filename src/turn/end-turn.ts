import type { AppendRequest, CallRecord } from "../session/contract.ts";
import type { AssistantEntry } from "../values/entry.ts";
import { type Failure, HoldfastError } from "../values/errors.ts";
import type { Answer } from "./answer.ts";
import type { HeldTurn } from "./held-turn.ts";
import { answeredWrite } from "./journal.ts";
import type { Prepared } from "./prepare.ts";
import type { Ready } from "./ready.ts";
import { isRefused } from "./refused.ts";

/** A request that was sent, and what came back. */
export interface Asked extends Ready {
  readonly answer: Answer;
  /** Null where the session has it already. */
  readonly call: CallRecord | null;
}

/** Ends the turn with this answer, whole or not. Throws the failure, if there is one, when all is saved. */
export async function endTurn(turn: HeldTurn, asked: Asked, failure: Failure | null): Promise<void> {
  const { prepared, answer } = asked;
  const entry = assistantEntry(turn, prepared, answer);
  if (entry.blocks.length > 0) {
    const seq = turn.conversation.add(entry);
    const text =
      answer.stop === "length"
        ? "Not run: the answer was cut at the output limit."
        : "The turn ended before this call ran.";
    const unrun = answer.calls.map((call) => turn.unrun(call, text));
    if (unrun.length > 0) turn.addResults(seq, unrun);
  }
  await turn.save("finish", { ...answered(turn, asked), end: ending(turn, prepared, answer, failure) });
  if (failure !== null) throw new HoldfastError(failure);
  const { stop, detail } = answer;
  turn.deps.sink.emit({ type: "done", stop, usage: turn.usage, ...(detail === undefined ? {} : { detail }) });
}

/** What the session gets with an answer: its call, and what it does not have of the request's bytes. */
export function answered(turn: HeldTurn, { prepared, saved, answer, call }: Asked): Partial<AppendRequest> {
  return {
    ...(call === null ? {} : { call }),
    ...answeredWrite(prepared, turn.key, saved, answer.begun, answer.isMessage),
  };
}

export function assistantEntry(turn: HeldTurn, prepared: Prepared, { blocks, stop }: Answer): AssistantEntry {
  const { deps, start, model, key } = turn;
  return {
    v: 1,
    kind: "assistant",
    origin: "runtime",
    at: deps.now(),
    turn: start.turn,
    model: model.full,
    chain: key,
    epoch: prepared.chain.epoch,
    blocks,
    stop,
  };
}

function ending(
  turn: HeldTurn,
  prepared: Prepared,
  { begun, stop, detail }: Answer,
  failure: Failure | null,
): NonNullable<AppendRequest["end"]> {
  if (failure === null && stop === "stopped") return turn.stopped;
  if (failure === null) {
    return { status: "done", stop, ...(detail === undefined ? {} : { detail }) };
  }
  if (begun || !isRefused(failure, prepared.newItems)) return { status: "failed", failure };
  const step = turn.conversation.newestAssistant ?? 0;
  return { status: "refused", from: Math.max(turn.start.userSeq, step), failure };
}
