import { type Context, Hono } from "hono";
import * as z from "zod";
import type { Branch } from "../session/branch.ts";
import { checkQuotas } from "../turn/quotas.ts";
import { badRequest } from "./bad-request.ts";
import { readJson } from "./body.ts";
import { mintId } from "./conversation.ts";
import type { AppDeps, HttpEnv } from "./deps.ts";
import { exported } from "./export.ts";
import { imported } from "./import.ts";
import { found, openSession, ownSession } from "./open-session.ts";

const forkBody = z.object({ at: z.int().min(0) });

/** Sessions made of sessions: clones, forks, and what was taken out and is brought in. Each new one is the caller's own. */
export function copyRoutes(deps: AppDeps): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();

  routes.post("/api/sessions/:id/clone", async (c) => c.json({ id: await copy(deps, c, null) }));

  routes.post("/api/sessions/:id/fork", async (c) => {
    const body = forkBody.safeParse(await readJson(c.req.raw));
    if (body.success) return c.json({ id: await copy(deps, c, body.data.at) });
    const { session, id } = openSession(deps, c);
    found(await session.summary(), id);
    throw badRequest("at", "give the number of the user message to fork before, counted from 0");
  });

  routes.get("/api/sessions/:id/export", async (c) => {
    const { session, id } = openSession(deps, c);
    const answer = found(await session.branch({ v: 1, at: null, of: "export" }), id);
    if (answer.kind === "outside") throw new Error("a session that is exported whole ends nowhere");
    c.header("content-disposition", `attachment; filename="${id}.json"`);
    return c.json(exported(answer.branch, c.var.owner, c.env));
  });

  routes.post("/api/sessions/import", async (c) => {
    const body = await readJson(c.req.raw, "anything");
    const { branch, signed } = imported(body, c.var.agent, c.env);
    return c.json({ id: await adopt(deps, c, branch), signed });
  });

  return routes;
}

/** Makes a session of all of the path's (`at` null), or of what it has before a user message. Answers its id. */
async function copy(deps: AppDeps, c: Context<HttpEnv, "/api/sessions/:id">, at: number | null): Promise<string> {
  const { session, id } = openSession(deps, c);
  const answer = found(await session.branch({ v: 1, at, of: "fork" }), id);
  if (answer.kind === "branch") return adopt(deps, c, answer.branch);
  const { messages } = answer;
  const range =
    messages === 0 ? "no user message" : messages === 1 ? "one user message, 0" : `user messages 0 to ${messages - 1}`;
  throw badRequest("at", `the session has ${range}`);
}

async function adopt(deps: AppDeps, c: Context<HttpEnv>, branch: Branch): Promise<string> {
  const id = ownSession(c, mintId());
  await checkQuotas(deps, c.env, id, ["sessions", "bytes"], Date.now());
  await deps.sessions(c.env, id).adopt(id, branch);
  return id.conversation;
}
