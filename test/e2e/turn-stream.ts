import type { TurnEventBody } from "../../src/values/turn-event.ts";
import { KEYS, type Stage } from "./chat.ts";

/** A reader of `GET /api/sessions/:id/stream`. */
export interface TurnStream {
  readonly status: number;
  /** The id of the last event that had one; null before there is one. */
  readonly lastId: string | null;
  /** Reads up to and including the first event of which this holds. Answers what was read since the last call. */
  until(holds: (event: TurnEventBody) => boolean): Promise<TurnEventBody[]>;
  /** Reads to the end. */
  all(): Promise<TurnEventBody[]>;
  leave(): void;
}

export async function openStream(
  stage: Stage,
  conversation: string,
  lastId: string | null = null,
): Promise<TurnStream> {
  const left = new AbortController();
  const response = await stage.workerd.fetch(`/api/sessions/${conversation}/stream`, {
    headers: { authorization: `Bearer ${KEYS.ann}`, ...(lastId === null ? {} : { "last-event-id": lastId }) },
    signal: left.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  let last = lastId;
  const next = async (): Promise<TurnEventBody | null> => {
    for (;;) {
      const end = buffer.indexOf("\n\n");
      if (end >= 0) {
        const frame = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (data === undefined) continue;
        last = /^id: (.*)$/m.exec(frame)?.[1] ?? last;
        return JSON.parse(data);
      }
      const read = await reader?.read();
      if (read?.value === undefined) return null;
      buffer += read.value;
    }
  };
  const until: TurnStream["until"] = async (holds) => {
    const events: TurnEventBody[] = [];
    for (let event = await next(); event !== null; event = await next()) {
      events.push(event);
      if (holds(event)) break;
    }
    return events;
  };
  return {
    status: response.status,
    get lastId() {
      return last;
    },
    until,
    all: () => until(() => false),
    leave: () => left.abort(),
  };
}
