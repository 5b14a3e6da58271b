import type { Agent } from "../../define/types.ts";
import type { AppDeps } from "../../http/deps.ts";
import type { SessionApi } from "../../session/contract.ts";
import type { Owner } from "../../values/owner.ts";
import type { CardPlace } from "./card.ts";
import type { Version } from "./version.ts";

/** Who asks which agent, and with what a request is answered. */
export interface Call {
  readonly deps: Pick<AppDeps, "sessions" | "startTurn" | "startInBackground" | "listTasks" | "log" | "quotas">;
  readonly env: Cloudflare.Env;
  readonly ctx: Pick<ExecutionContext, "waitUntil">;
  readonly agent: Agent;
  readonly owner: Owner;
  readonly version: Version;
  readonly place: CardPlace;
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** The caller's own session under a context's id. */
export function sessionOf({ deps, env, agent, owner }: Call, contextId: string): SessionApi {
  return deps.sessions(env, { owner: owner.id, agent: agent.name, conversation: contextId });
}
