import type { TimedReader } from "../../http/timed-reader.ts";
import { HoldfastError } from "../../values/errors.ts";
import { type TurnEvent, verdictText } from "../../values/turn-event.ts";

/** Longer than this nobody waits for the headers of a stream. */
export const HEAD_MS = 10_000;

/**
 * Reads a turn's events until its model begins to answer, so that what fails before can still be an HTTP status, and
 * `x-holdfast-prefix` is known; at most `ms` milliseconds. Answers the events read. Throws the turn's failure.
 */
export async function readHead(events: TimedReader<TurnEvent>, ms: number): Promise<TurnEvent[]> {
  const until = Date.now() + ms;
  const read: TurnEvent[] = [];
  for (;;) {
    const next = await events.next(Math.max(0, until - Date.now()));
    if (next === "idle" || next === "end") return read;
    if (next.value.type === "failed") throw new HoldfastError(next.value.failure);
    read.push(next.value);
    if (next.value.type !== "started" && next.value.type !== "request") return read;
  }
}

/** `x-holdfast-prefix`: how the turn's first request stands to the one before it; nothing where it is not known yet. */
export function prefixHeader(events: readonly TurnEvent[]): Record<string, string> {
  const requests = events.filter((event) => event.type === "request");
  // Where its model failed and another was asked, the one that was answered counts.
  const first = requests.findLast(({ step }) => step === requests[0]?.step);
  return first === undefined ? {} : { "x-holdfast-prefix": verdictText(first.verdict) };
}
