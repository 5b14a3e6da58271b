import { httpError } from "../../http/errors.ts";
import { dataFrame, KEEPALIVE, KEEPALIVE_MS } from "../../http/event-stream.ts";
import type { TimedReader } from "../../http/timed-reader.ts";
import { type Failure, failureOf, HoldfastError } from "../../values/errors.ts";
import type { TurnEvent } from "../../values/turn-event.ts";
import { AnswerView } from "./view.ts";
import { completion, deltaChunk, finishChunk, type Head, roleChunk, usageChunk } from "./wire.ts";

/** Told the answer's whole text once the turn is done. The response ends when it is through. */
export type Remember = (answer: string) => Promise<void>;

/** Reads a turn to its end: the body of a response that does not stream, and its requests. Throws its failure. */
export async function wholeCompletion(events: TimedReader<TurnEvent>, head: Head, remember: Remember) {
  const view = new AnswerView();
  const requests: TurnEvent[] = [];
  const { stop, usage } = await readTurn(events, {
    event: (event) => {
      if (event.type === "request") requests.push(event);
      view.take(event);
    },
    idle: () => {},
  });
  const { content, reasoning } = view;
  await remember(content);
  return { requests, body: completion(head, { content, reasoning, stop, usage }) };
}

export interface StreamOptions {
  readonly includeUsage: boolean;
  readonly remember: Remember;
  /** Told the failure that ended the turn after the headers were sent. */
  readonly failed: (failure: Failure) => void;
}

/**
 * Sends a turn as the frames of a stream, beginning with the events already read. A failure becomes an `error` frame,
 * which every client takes for what it is; a `finish_reason` of that name they would pass over.
 */
export async function streamCompletion(
  begun: readonly TurnEvent[],
  events: TimedReader<TurnEvent>,
  head: Head,
  options: StreamOptions,
  send: (frame: string) => void,
): Promise<void> {
  const sendJson = (value: unknown) => send(dataFrame(JSON.stringify(value)));
  const view = new AnswerView();
  const show = (event: TurnEvent) => {
    for (const delta of view.take(event)) sendJson(deltaChunk(head, delta));
  };
  sendJson(roleChunk(head));
  try {
    for (const event of begun) show(event);
    const ended = begun.find((event) => event.type === "done");
    const { stop, usage } = ended ?? (await readTurn(events, { event: show, idle: () => send(KEEPALIVE) }));
    await options.remember(view.content);
    sendJson(finishChunk(head, stop));
    if (options.includeUsage) sendJson(usageChunk(head, usage));
  } catch (thrown) {
    const failure = failureOf(thrown);
    options.failed(failure);
    sendJson(httpError(failure).body);
  }
  send(dataFrame("[DONE]"));
}

/** Reads up to and including `done`, which it answers. Throws the turn's failure. */
async function readTurn(
  events: TimedReader<TurnEvent>,
  on: { readonly event: (event: TurnEvent) => void; readonly idle: () => void },
): Promise<Extract<TurnEvent, { type: "done" }>> {
  for (;;) {
    const next = await events.next(KEEPALIVE_MS);
    if (next === "idle") {
      on.idle();
      continue;
    }
    if (next === "end") {
      throw new HoldfastError({ reason: "internal", message: "The turn ended without saying how." });
    }
    const event = next.value;
    if (event.type === "failed") throw new HoldfastError(event.failure);
    on.event(event);
    if (event.type === "done") return event;
  }
}
