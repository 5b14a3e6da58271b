import { Hono } from "hono";
import { requestId } from "hono/request-id";
import { getPath } from "hono/utils/url";
import type { Agent } from "../define/types.ts";
import { failureOf, HoldfastError } from "../values/errors.ts";
import { authenticate } from "./authenticate.ts";
import { copyRoutes } from "./copies.ts";
import { crossOrigin } from "./cors.ts";
import type { AppDeps, HttpEnv } from "./deps.ts";
import { drainRefused } from "./drain.ts";
import { httpError } from "./errors.ts";
import { failureFields, requestLog } from "./log.ts";
import { refuseOtherMethods } from "./method-not-allowed.ts";
import { pauseRoutes } from "./pauses.ts";
import { rateLimit } from "./rate-limit.ts";
import { sessionRoutes } from "./sessions.ts";

/**
 * The door: every surface and the session API, on bare paths for the first agent and under `/agents/:name` for each.
 * The answer is a Hono app, which can be mounted in another one.
 */
export function createApp(deps: AppDeps): Hono<HttpEnv> {
  // Some clients write the colon of `/message:send` as %3A, which is the same path.
  const app = new Hono<HttpEnv>({ getPath: (request) => getPath(request).replaceAll(/%3a/gi, ":") });

  app.use(requestId({ headerName: "x-request-id", limitLength: 128 }));
  app.use(requestLog(deps.log));
  app.use(crossOrigin());
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  // What needs no key stands before authentication.
  mount(app, deps.runtime.agents, "/.well-known/*", deps.discovery());
  app.use(authenticate(deps.auth));
  app.use(rateLimit(deps.log));
  app.use(drainRefused());
  mount(app, deps.runtime.agents, "/*", agentRoutes(deps));

  refuseOtherMethods(app);
  app.all("*", (c) => {
    throw new HoldfastError({ reason: "not_found", message: `There is nothing at ${c.req.method} ${c.req.path}.` });
  });
  app.onError((thrown, c) => {
    const failure = failureOf(thrown);
    const { status, headers, body } = httpError(failure);
    deps.log("request refused", { requestId: c.get("requestId"), ...failureFields(failure) });
    return c.json(body, status, headers);
  });
  return app;
}

/** Mounts an agent's routes for each agent under its name, and for the first one on bare paths. */
function mount(app: Hono<HttpEnv>, agents: readonly Agent[], paths: string, routes: Hono<HttpEnv>): void {
  const [first] = agents;
  if (first === undefined) throw new Error("createApp needs at least one agent");
  app.use(`/agents/:name${paths}`, async function namedAgent(c, next) {
    const agent = agents.find(({ name }) => name === c.req.param("name"));
    if (agent === undefined) {
      const message = `There is no agent ${JSON.stringify(c.req.param("name"))}.`;
      throw new HoldfastError({ reason: "model_not_found", message });
    }
    c.set("agent", agent);
    c.set("named", true);
    await next();
  });
  app.route("/agents/:name", routes);
  app.use(paths, async function firstAgent(c, next) {
    c.set("agent", first);
    c.set("named", false);
    await next();
  });
  app.route("/", routes);
}

function agentRoutes(deps: AppDeps): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  for (const surface of deps.surfaces) routes.route("/", surface(deps));
  return routes.route("/", sessionRoutes(deps)).route("/", pauseRoutes(deps)).route("/", copyRoutes(deps));
}
