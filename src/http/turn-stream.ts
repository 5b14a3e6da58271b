import type { Context } from "hono";
import type { FollowRequest, SessionApi } from "../session/contract.ts";
import { followTurn, type Position } from "../turn/follow.ts";
import type { TurnEvent } from "../values/turn-event.ts";
import { badRequest } from "./bad-request.ts";
import { eventStream, KEEPALIVE } from "./event-stream.ts";
import { found } from "./open-session.ts";

/** A place that we gave out as an event's id. */
const EVENT_ID = /^([\w~-]{1,128}):(\d{1,15})$/;

/**
 * The session's newest turn as server-sent events: what it told so far, or what came after `Last-Event-ID`, and what it
 * goes on to tell. Each event's data is a {@link TurnEvent} in JSON. 204 where there is nothing after the client's last
 * event, which ends an `EventSource` for good; 404 where there is no such session.
 */
export async function turnStream(c: Context, session: SessionApi, id: string): Promise<Response> {
  const from = readPosition(c.req.header("last-event-id"));
  const request: FollowRequest = { v: 1, turn: null, log: from?.log ?? null, after: from?.n ?? 0, waitMs: 0 };
  const first = found(await session.follow(request), id);
  if (first.ended && first.events.length === 0) return c.body(null, 204);

  const left = new AbortController();
  const stream = eventStream(async (send) => {
    send("retry: 1000\n\n");
    for (const event of first.events) send(frame(event, { log: first.log, n: event.n }));
    if (first.ended) return;
    const last = first.events.at(-1);
    const at = last === undefined ? from : { log: first.log, n: last.n };
    for await (const followed of followTurn(session, first.turn, at, left.signal)) {
      send(followed === "idle" ? KEEPALIVE : frame(followed.event, followed.at));
    }
  }, left);
  return c.body(stream.body, 200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
}

function readPosition(id: string | undefined): Position | null {
  if (!id) return null;
  const [, log, n] = EVENT_ID.exec(id) ?? [];
  if (log === undefined) throw badRequest("Last-Event-ID", "it is the id of an event of this stream");
  return { log, n: Number(n) };
}

/** A withdrawal has no place of its own: it is told to one reader only. */
function frame(event: TurnEvent, { log, n }: Position): string {
  const { n: _, ...body } = shown(event);
  const id = event.type === "withdrawn" ? "" : `id: ${log}:${n}\n`;
  return `${id}data: ${JSON.stringify(body)}\n\n`;
}

/** What is for the developer's log stays in the worker, and so does the id of a search of ours: it is a load point. */
function shown(event: TurnEvent): TurnEvent {
  if (event.type === "call" && event.host) return { ...event, id: `host_${event.n}` };
  if (event.type !== "failed") return event;
  const { detail: _, ...failure } = event.failure;
  return { ...event, failure };
}
