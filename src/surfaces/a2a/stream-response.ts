import { dataFrame, eventStream, KEEPALIVE } from "../../http/event-stream.ts";
import { TimedReader } from "../../http/timed-reader.ts";

/** A silent stream gets a comment after so long, before proxies cut it. The task goes on whether or not it is read. */
const KEEPALIVE_MS = 15_000;

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** How a binding writes a stream. */
export interface Framing {
  /** One event, as the value to write. */
  readonly event: (value: unknown) => unknown;
  /** An error after the first event. */
  readonly error: (thrown: unknown) => unknown;
}

/**
 * Answers a stream as server-sent events. What goes wrong before the first event is thrown here, so that it can be an
 * answer of its own; what goes wrong later is an event named `error`.
 */
export async function streamResponse(
  events: AsyncGenerator<unknown, void, undefined>,
  { event, error }: Framing,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<Response> {
  const first = await events.next();
  const stream = eventStream(async (send) => {
    const write = (value: unknown) => send(dataFrame(JSON.stringify(event(value))));
    try {
      if (first.done) return;
      write(first.value);
      const reader = new TimedReader(events);
      for (;;) {
        const next = await reader.next(KEEPALIVE_MS);
        if (next === "end") return;
        if (next === "idle") send(KEEPALIVE);
        else write(next.value);
      }
    } catch (thrown) {
      send(`event: error\n${dataFrame(JSON.stringify(error(thrown)))}`);
    }
  });
  waitUntil(stream.done);
  return new Response(stream.body, { headers: HEADERS });
}
