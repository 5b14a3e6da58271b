import type { MiddlewareHandler } from "hono";
import type { AppDeps, HttpEnv } from "./deps.ts";

/** One line of the worker's log. Never holds what a caller or a model said. */
export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly event: string;
  readonly requestId: string;
  readonly [field: string]: string | number | boolean | null;
}

export type Log = (line: LogLine) => void;

/** Writes each line as one JSON object, which is what Workers Logs takes apart into fields. */
export const jsonLog: Log = (line) => {
  console[line.level](JSON.stringify(line));
};

/** Logs every answer: who, what, the status and how long it took until the headers (milliseconds). */
export function requestLog({ log }: Pick<AppDeps, "log">): MiddlewareHandler<HttpEnv> {
  return async function requestLog(c, next) {
    const begun = Date.now();
    await next();
    const owner: { id: string } | undefined = c.get("owner");
    const agent: { name: string } | undefined = c.get("agent");
    log({
      level: "info",
      event: "request",
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
