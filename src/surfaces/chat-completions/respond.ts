import type { Failure } from "../../values/errors.ts";
import type { TurnEvent } from "../../values/turn-event.ts";
import { dataFrame, KEEPALIVE, KEEPALIVE_MS } from "../../http/event-stream.ts";
import { httpError } from "../../http/errors.ts";
import type { TimedReader } from "../../http/timed-reader.ts";
import { AnswerView } from "./view.ts";
import { completion, deltaChunk, finishChunk, type Head, roleChunk, usageChunk } from "./wire.ts";

type Done = Extract<TurnEvent, { type: "done" }>;

/** Told the answer's whole text once the turn is done; the response ends when it has come to an end. */
export type Remember = (answer: string) => Promise<void>;

/** Reads a turn to its end and answers the body of a response that does not stream, or why there is none. */
export async function wholeCompletion(events: TimedReader<TurnEvent>, head: Head, remember: Remember) {
  const view = new AnswerView();
  const read: TurnEvent[] = [];
  const end = await readTurn(events, {
    event: (event) => {
      read.push(event);
      view.take(event);
    },
    idle: () => {},
  });
  if (end.type === "failed") return { failure: end.failure };
  await remember(view.content);
  const { content, reasoning } = view;
  return { events: read, body: completion(head, { content, reasoning, stop: end.stop, usage: end.usage }) };
}

/** Sends a turn as the frames of a stream, those of `begun` first. A failure becomes a frame of its own. */
export async function streamCompletion(
  events: TimedReader<TurnEvent>,
  begun: readonly TurnEvent[],
  head: Head,
  options: { readonly includeUsage: boolean; readonly remember: Remember },
  send: (frame: string) => void,
): Promise<void> {
  const sendJson = (value: unknown) => send(dataFrame(JSON.stringify(value)));
  const view = new AnswerView();
  sendJson(roleChunk(head));
  const end = await readTurn(
    events,
    {
      event: (event) => {
        for (const delta of view.take(event)) sendJson(deltaChunk(head, delta));
      },
      idle: () => send(KEEPALIVE),
    },
    begun,
  );
  if (end.type === "failed") {
    sendJson(httpError(end.failure).body);
  } else {
    await options.remember(view.content);
    sendJson(finishChunk(head, end.stop));
    if (options.includeUsage) sendJson(usageChunk(head, end.usage));
  }
  send(dataFrame("[DONE]"));
}

/** How a turn ended: its own last event, or what went wrong where there was none. */
type End = Done | { readonly type: "failed"; readonly failure: Failure };

async function readTurn(
  events: TimedReader<TurnEvent>,
  on: { readonly event: (event: TurnEvent) => void; readonly idle: () => void },
  begun: readonly TurnEvent[] = [],
): Promise<End> {
  const waiting = [...begun];
  for (;;) {
    const value = waiting.shift();
    const next = value === undefined ? await events.next(KEEPALIVE_MS) : { value };
    if (next === "idle") {
      on.idle();
      continue;
    }
    if (next === "end") return { type: "failed", failure: { reason: "internal", message: "The turn ended without an answer." } };
    if (next.value.type === "failed") return next.value;
    on.event(next.value);
    if (next.value.type === "done") return next.value;
  }
}
