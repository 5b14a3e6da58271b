import type { MiddlewareHandler } from "hono";
import type { TurnHost } from "../turn/start.ts";
import type { Owner } from "../values/owner.ts";
import type { HttpEnv } from "./deps.ts";

/** Takes one line of the worker's log. It never holds what a caller or a model said. */
export type Log = TurnHost["log"];

/** Writes each line as one JSON object, which Workers Logs takes apart into fields. `level` decides on the stream. */
export const jsonLog: Log = (event, fields) => {
  const line = JSON.stringify({ event, ...fields });
  if (fields.level === "error") console.error(line);
  else if (fields.level === "warn") console.warn(line);
  else console.log(line);
};

/** Logs every answer: who, what, the status, and the milliseconds until its headers. */
export function requestLog(log: Log): MiddlewareHandler<HttpEnv> {
  return async function requestLog(c, next) {
    const begun = Date.now();
    await next();
    // A request that was refused early has neither.
    const owner: Owner | undefined = c.get("owner");
    const agent: { readonly name: string } | undefined = c.get("agent");
    log("request", {
      level: "info",
      requestId: c.get("requestId"),
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      ms: Date.now() - begun,
      owner: owner?.id ?? null,
      agent: agent?.name ?? null,
    });
  };
}
