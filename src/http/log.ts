import type { MiddlewareHandler } from "hono";
import type { TurnHost } from "../turn/start.ts";
import type { Failure } from "../values/errors.ts";
import type { Owner } from "../values/owner.ts";
import type { HttpEnv } from "./deps.ts";
import { httpError } from "./errors.ts";

/** Takes one line of the worker's log. It never holds what a caller or a model said. */
export type Log = TurnHost["log"];

/** Writes each line as one JSON object, which Workers Logs takes apart into fields. `level` decides on the stream. */
export const jsonLog: Log = (event, fields) => {
  const line = JSON.stringify({ event, ...fields });
  if (fields.level === "error") console.error(line);
  else if (fields.level === "warn") console.warn(line);
  else console.log(line);
};

/**
 * What a log line says of a failure. Its message is left out: it may quote what the caller or a provider said. `detail`
 * is ours.
 */
export function failureFields(failure: Failure): Record<string, unknown> {
  const { status, body } = httpError(failure);
  const { code, type, param } = body.error;
  const { reason, detail = null } = failure;
  return { level: status < 500 ? "info" : "error", status, reason, code, type, param, detail };
}

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
