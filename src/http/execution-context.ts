import type { Context } from "hono";
import type { HttpEnv } from "./deps.ts";

/** The platform's execution context, of which Hono's own type knows only a part. */
export function executionContext(c: Context<HttpEnv>): ExecutionContext {
  return c.executionCtx as ExecutionContext;
}
