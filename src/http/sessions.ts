import { Hono } from "hono";
import * as z from "zod";
import { ledgerRow } from "../session/ledger-row.ts";
import { decodeEntry } from "../values/entry.ts";
import { HoldfastError } from "../values/errors.ts";
import { parse } from "./bad-request.ts";
import { readJson } from "./body.ts";
import type { AppDeps, HttpEnv } from "./deps.ts";
import { embedded } from "./embedded.ts";
import { executionContext } from "./execution-context.ts";
import { found, openSession } from "./open-session.ts";
import { readPatch } from "./patch.ts";
import { type PublicSession, publicEntry } from "./public-entry.ts";
import { turnStream } from "./turn-stream.ts";

/** Entries, calls or sessions a page, unless asked otherwise. */
const PAGE = { usual: 100, most: 500 } as const;

const limit = z.coerce.number().pipe(z.int().min(1).max(PAGE.most)).default(PAGE.usual);

const listQuery = z.object({ limit, cursor: z.string().max(512).optional() });
const pageQuery = z.object({ limit, after: z.coerce.number().pipe(z.int().min(0)).default(0) });

/**
 * The sessions of the caller with the agent of the path. The list comes from D1 and may lag by a turn; everything else
 * is asked of the session itself. What is not the caller's can't be named, so it is simply not found.
 */
export function sessionRoutes(deps: AppDeps): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();

  routes.get("/api/sessions", async (c) => {
    const { limit, cursor = null } = parse(listQuery, c.req.query());
    const query = { owner: c.var.owner.id, agent: c.var.agent.name, limit, cursor };
    const { sessions, next } = await deps.listSessions(c.env.DB, query);
    return c.json({
      sessions: sessions.map(({ conversation, ...rest }) => ({ id: conversation, ...rest })),
      ...more(next),
    });
  });

  routes.get("/api/sessions/:id", async (c) => {
    const { session, id } = openSession(deps, c);
    const { conversation: _, ...rest } = found(await session.summary(), id);
    return c.json({ id, ...rest });
  });

  routes.patch("/api/sessions/:id", async (c) => {
    const { session, id } = openSession(deps, c);
    found(await session.summary(), id);
    const change = readPatch(await readJson(c.req.raw), c.var.agent);
    const outcome = found(await session.patch({ v: 1, ...change }), id);
    if (outcome.kind === "busy") {
      const message = "A turn is running in this conversation: its mode can be changed when it has ended.";
      throw new HoldfastError({ reason: "busy", retryAfter: outcome.retryAfter, message });
    }
    const { conversation: _, ...rest } = outcome.summary;
    return c.json({ id, ...rest });
  });

  routes.delete("/api/sessions/:id", async (c) => {
    const { session, id } = openSession(deps, c);
    found((await session.remove()) || null, id);
    return c.json({ id, deleted: true });
  });

  routes.get("/api/sessions/:id/entries", async (c) => {
    const { session, id } = openSession(deps, c);
    const { after, limit } = parse(pageQuery, c.req.query());
    const { entries, next } = found(await session.entries(after, limit), id);
    const shown = entries.map(([seq, text]) => publicEntry({ seq, entry: decodeEntry(text) }));
    const owned = ({ agent, id: conversation }: PublicSession) =>
      deps.sessions(c.env, { owner: c.var.owner.id, agent, conversation });
    return c.json({ entries: await embedded(shown, owned), ...more(next) });
  });

  routes.get("/api/sessions/:id/ledger", async (c) => {
    const { session, id } = openSession(deps, c);
    const { after, limit } = parse(pageQuery, c.req.query());
    const { calls, next } = found(await session.calls(after, limit), id);
    return c.json({ calls: calls.map(ledgerRow), ...more(next) });
  });

  routes.get("/api/sessions/:id/stream", (c) => {
    const { session, id } = openSession(deps, c);
    return turnStream(c, session, id);
  });

  routes.post("/api/sessions/:id/stop", async (c) => {
    const { session, id } = openSession(deps, c);
    found((await session.stop()) || null, id);
    return c.json({ id, stopping: true });
  });

  routes.post("/api/sessions/:id/compact", async (c) => {
    const { id } = openSession(deps, c);
    const { owner, agent, requestId } = c.var;
    const ctx = executionContext(c);
    const compacting = deps.compact(c.env, ctx, { owner, agent, requestId, conversation: id });
    // It was asked for and is paid for: whoever asked may leave.
    ctx.waitUntil(compacting.catch(() => undefined));
    const { compacted } = found(await compacting, id);
    return c.json({ id, compacted });
  });

  return routes;
}

function more(next: string | number | null): { next?: string | number } {
  return next === null ? {} : { next };
}
