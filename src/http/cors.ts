import type { Context, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { HttpEnv } from "./deps.ts";
import { isLoopback, isOpen } from "./open-mode.ts";

/** Headers of ours, and of protocols to come, that a script in a browser may read. */
const EXPOSED = [
  "x-conversation-id",
  "x-request-id",
  "x-holdfast-prefix",
  "x-holdfast-ignored",
  "x-should-retry",
  "retry-after",
  "mcp-session-id",
  "a2a-extensions",
];

/**
 * Lets pages of other origins call: those that `HOLDFAST_ORIGINS` lists (comma-separated), and in open mode those on
 * this machine. Preflights are answered before authentication, since a browser sends them without a key; whatever
 * headers they ask for are allowed (the openai client sends eight or more of its own). No cookies, no credentials.
 */
export function crossOrigin(): MiddlewareHandler<HttpEnv> {
  const answer = cors({
    origin: (origin, c: Context<HttpEnv>) => (allows(c.env, origin) ? origin : null),
    exposeHeaders: EXPOSED,
    maxAge: 600,
  });
  return async function crossOrigin(c, next) {
    const origin = c.req.header("origin");
    if (
      origin !== undefined &&
      c.req.header("access-control-request-private-network") === "true" &&
      isOpen(c.env) &&
      allows(c.env, origin)
    ) {
      c.res.headers.set("access-control-allow-private-network", "true");
    }
    return answer(c, next);
  };
}

function allows(env: Cloudflare.Env, origin: string): boolean {
  const listed = (env.HOLDFAST_ORIGINS ?? "").split(",").map((item) => item.trim());
  return origin !== "" && (listed.includes(origin) || (isOpen(env) && isLoopback(origin)));
}
