import type { Context } from "hono";
import type { SessionApi, SessionId } from "../session/contract.ts";
import { HoldfastError } from "../values/errors.ts";
import { checkConversationId } from "./conversation.ts";
import type { AppDeps, HttpEnv } from "./deps.ts";

/** The session that a path names: the caller's own under that id, with the agent of the path. It need not exist. */
export function openSession(
  { sessions }: Pick<AppDeps, "sessions">,
  c: Context<HttpEnv, "/api/sessions/:id">,
): { session: SessionApi; id: string } {
  const id = checkConversationId(c.req.param("id"), "id");
  return { id, session: sessions(c.env, ownSession(c, id)) };
}

/** The full name of the caller's session with that id. */
export function ownSession({ var: { owner, agent } }: Pick<Context<HttpEnv>, "var">, conversation: string): SessionId {
  return { owner: owner.id, agent: agent.name, conversation };
}

/** `value`, or a 404 where it is null: the session does not exist, or is not the caller's. */
export function found<T>(value: T | null, id: string): T {
  if (value !== null) return value;
  throw new HoldfastError({ reason: "not_found", message: `There is no session ${JSON.stringify(id)}.` });
}
