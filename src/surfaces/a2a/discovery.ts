import { type Context, Hono } from "hono";
import { etag } from "hono/etag";
import type { HttpEnv } from "../../http/deps.ts";
import { isOpen } from "../../http/open-mode.ts";
import { agentCard, type CardPlace, hybridCard } from "./card.ts";
import { versionOf } from "./version.ts";

/** The path of the specification, and that of its versions before 0.3. */
const PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/** Seconds that a card may be kept: a deploy changes it. */
const MAX_AGE = 300;

/** An agent's public card, relative to its root. Needs no key: whoever wants to ask for one reads here how. */
export function discovery(): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  for (const path of PATHS) {
    routes.use(path, etag());
    routes.get(path, (c) => {
      // A reader that says it knows 1.0 may be strict about fields that 1.0 doesn't have.
      const modern = versionOf(c.req.header("a2a-version"), null) === "1.0";
      const card = (modern ? agentCard : hybridCard)(c.var.agent, cardPlace(c));
      return c.json(card, 200, {
        "cache-control": `public, max-age=${MAX_AGE}`,
        "access-control-allow-origin": "*",
        vary: "A2A-Version",
      });
    });
  }
  return routes;
}

/** What of a path comes behind an agent's root. The app may be mounted in another one, so its beginning is not known. */
const BEHIND_ROOT = /\/(?:\.well-known\/[^/]+|a2a|(?:v1\/)?(?:message:[a-z]+|tasks(?:\/.*)?|card)|extendedAgentCard)$/;

/** Where the agent is that `c` asks for: on the host and path that the caller took. */
export function cardPlace(c: Context<HttpEnv>): CardPlace {
  const { origin } = new URL(c.req.url);
  return { root: origin + c.req.path.replace(BEHIND_ROOT, ""), keyed: !isOpen(c.env) };
}
