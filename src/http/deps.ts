import type { Hono } from "hono";
import type { Agent } from "../define/types.ts";
import type { listSessions } from "../session/list.ts";
import type * as requests from "../session/requests.ts";
import type { listTasks } from "../session/task-list.ts";
import type * as transcripts from "../session/transcripts.ts";
import type { CompactionAsked, compactSession } from "../turn/compact-session.ts";
import type { RunningTurn, TurnRequest } from "../turn/runtime.ts";
import type { TurnHost } from "../turn/start.ts";
import type { Owner } from "../values/owner.ts";
import type { Authenticator } from "./auth.ts";

/** What every handler finds in its context. `named`: the path says which agent, so a body need not. */
export interface HttpEnv {
  Bindings: Cloudflare.Env;
  Variables: { requestId: string; owner: Owner; agent: Agent; named: boolean };
}

/** One protocol: its routes, relative to an agent's root. They run authenticated, with the agent chosen. */
export type Surface = (deps: AppDeps) => Hono<HttpEnv>;

/** All that the door does not do itself. Each is handed in, so that a test can stand in for any of them. */
export interface AppDeps extends Pick<TurnHost, "runtime" | "sessions" | "log" | "quotas"> {
  /** Asked in order; the first that knows the caller wins. */
  readonly auth: readonly Authenticator[];
  readonly surfaces: readonly Surface[];
  /** Starts a turn and returns at once; the turn runs on under `waitUntil`. */
  readonly startTurn: (
    env: Cloudflare.Env,
    ctx: Pick<ExecutionContext, "waitUntil">,
    request: TurnRequest,
  ) => RunningTurn;
  /** Begins a turn that runs with nobody attached to it. Answers its id; null where it goes on elsewhere already. */
  readonly startInBackground: (env: Cloudflare.Env, request: TurnRequest) => Promise<string | null>;
  /** What anybody may read of an agent, relative to its root, under `/.well-known/`. */
  readonly discovery: () => Hono<HttpEnv>;
  /** Compacts a session in which no turn runs; null when there is none of that name. */
  readonly compact: (
    env: Cloudflare.Env,
    ctx: Pick<ExecutionContext, "waitUntil">,
    asked: CompactionAsked,
  ) => ReturnType<typeof compactSession>;
  readonly listSessions: typeof listSessions;
  readonly listTasks: typeof listTasks;
  readonly transcripts: typeof transcripts;
  readonly requests: typeof requests;
}
