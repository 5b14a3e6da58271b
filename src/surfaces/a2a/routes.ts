import { type Context, Hono } from "hono";
import type { AppDeps, HttpEnv } from "../../http/deps.ts";
import { executionContext } from "../../http/execution-context.ts";
import type { Call } from "./call.ts";
import { cardPlace } from "./discovery.ts";
import { REST, type RestRoute } from "./rest-routes.ts";
import type { Version } from "./version.ts";

/**
 * A2A, versions 1.0 and 0.3 on the same URLs: JSON-RPC at `/a2a`, HTTP+JSON at the agent's root, that of 0.3 under `/v1`.
 * What speaks the protocol is loaded when it is first used.
 */
export function a2a(deps: AppDeps): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.post("/a2a", async (c) => {
    const { answerRpc } = await import("./json-rpc.ts");
    return answerRpc(c.req.raw, callOf(c, deps));
  });
  const rest = (version: Version, base: string, { methods, path, operation, ids, query = [] }: RestRoute) =>
    routes.on(methods, `${base}${path}`, async (c) => {
      const { answerRest } = await import("./rest.ts");
      const named = Object.entries(ids(c.req.param()));
      const asked = query.flatMap((name) => {
        const value = c.req.query(name);
        return value === undefined ? [] : [[name, value]];
      });
      const params = Object.fromEntries([...asked, ...named]);
      return answerRest(c.req.raw, { operation, version, params }, callOf(c, deps));
    });
  for (const route of REST) {
    if (route.only !== "0.3") rest("1.0", "", route);
    if (route.only !== "1.0") rest("0.3", "/v1", route);
  }
  return routes;
}

function callOf(c: Context<HttpEnv>, deps: AppDeps): Omit<Call, "version"> {
  const { agent, owner, requestId } = c.var;
  return {
    deps,
    env: c.env,
    ctx: executionContext(c),
    agent,
    owner,
    place: cardPlace(c),
    requestId,
    traceparent: c.req.header("traceparent") ?? null,
    signal: c.req.raw.signal,
    now: Date.now,
  };
}
