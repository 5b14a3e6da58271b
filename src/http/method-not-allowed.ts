import type { Hono } from "hono";
import type { HttpEnv } from "./deps.ts";
import { errorBody } from "./errors.ts";

/** Answers, on every path that `app` has so far, the methods it has not. Call it after all routes are there. */
export function refuseOtherMethods(app: Hono<HttpEnv>): void {
  const methods = Map.groupBy(
    app.routes.filter((route) => route.method !== "ALL"),
    (route) => route.path,
  );
  for (const [path, routes] of methods) {
    const allowed = [...new Set(routes.map((route) => route.method))].join(", ");
    app.all(path, (c) => {
      const message = `${c.req.method} is not allowed here; ${allowed} is.`;
      return c.json(errorBody(message, "invalid_request_error", "method_not_allowed"), 405, { allow: allowed });
    });
  }
}
