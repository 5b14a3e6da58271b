import type { FollowAnswer, SessionApi } from "../session/contract.ts";
import { HoldfastError } from "../values/errors.ts";
import { isEnd, type TurnEvent } from "../values/turn-event.ts";
import type { Sink } from "./sink.ts";

/** One call of a session waits this long for an event. */
const WAIT_MS = 15_000;

/** Where a reader of a turn's events is: the log its last event was numbered in, and its number. */
export interface Position {
  readonly log: string;
  readonly n: number;
}

/** An event, and where its reader is once it has it. */
export interface Followed {
  readonly event: TurnEvent;
  readonly at: Position;
}

/**
 * The events of a turn that runs elsewhere or is over, to its end; nothing where the session has no such turn. From the
 * beginning, or from after a position. What a `withdrawn` event names is void. Ends when `signal` aborts.
 */
export async function* followTurn(
  session: Pick<SessionApi, "follow">,
  turn: string | null,
  from: Position | null,
  signal?: AbortSignal,
): AsyncGenerator<Followed | "idle"> {
  let at = from;
  let followed = turn;
  while (!signal?.aborted) {
    const answer: FollowAnswer | null = await session.follow({
      v: 1,
      turn: followed,
      log: at?.log ?? null,
      after: at?.n ?? 0,
      waitMs: WAIT_MS,
    });
    if (answer === null) return;
    followed = answer.turn;
    for (const event of answer.events) {
      at = { log: answer.log, n: event.n };
      yield { event, at };
    }
    if (answer.ended) return;
    if (answer.events.length === 0) yield "idle";
  }
}

/**
 * Passes a turn that runs elsewhere on to a sink. Text of a step is held back until the step goes on, since until then it
 * may be withdrawn, and not every reader of a sink can take back what it said.
 */
export async function passTurn(session: Pick<SessionApi, "follow">, turn: string, sink: Sink): Promise<void> {
  let held: TurnEvent[] = [];
  const passed = new Set<string>();
  for await (const followed of followTurn(session, turn, null)) {
    if (followed === "idle") continue;
    const { event } = followed;
    // What was passed stands: a step that is withdrawn is told no further than to its text, which is held.
    if (event.type === "withdrawn") held = [];
    else if (event.type === "text" || event.type === "thinking") held.push(event);
    else if (!passed.has(eventKey(event))) {
      for (const one of held) if (!passed.has(eventKey(one))) sink.pass(one);
      for (const one of [...held, event]) passed.add(eventKey(one));
      held = [];
      sink.pass(event);
      if (isEnd(event)) return;
    } else held = [];
  }
  throw new HoldfastError({ reason: "internal", message: "The turn that this request asks for again is not there." });
}

/** What makes an event the same one when a turn is told again under other numbers. */
function eventKey(event: TurnEvent): string {
  if ("id" in event) return `${event.type} ${event.id}`;
  return "step" in event ? `${event.type} ${event.step}` : event.type;
}
