import type { Hono } from "hono";
import type { SentMessage } from "../context/align-history.ts";
import type { Agent } from "../define/types.ts";
import type { SessionApi, SessionId, SessionSummary } from "../session/contract.ts";
import type { RunningTurn, Runtime, TurnRequest } from "../turn/runtime.ts";
import type { Owner } from "../values/owner.ts";
import type { Authenticator } from "./auth.ts";
import type { Log } from "./log.ts";

/** What every handler finds in its context. `named`: the path says which agent, so a body need not. */
export interface HttpEnv {
  Bindings: Cloudflare.Env;
  Variables: { requestId: string; owner: Owner; agent: Agent; named: boolean };
}

/** One protocol: its routes, relative to an agent's root. They run authenticated, with the agent chosen. */
export type Surface = (deps: AppDeps) => Hono<HttpEnv>;

/** Reads and writes which transcript belongs to which conversation (`session/transcripts.ts`). */
export interface Transcripts {
  transcriptHash(messages: readonly SentMessage[]): Promise<string> | string;
  findTranscript(db: D1Database, owner: string, agent: string, hash: string): Promise<string | null>;
  saveTranscript(db: D1Database, owner: string, agent: string, conversation: string, hash: string): Promise<void>;
}

export interface SessionQuery {
  readonly owner: string;
  readonly agent: string;
  readonly limit: number;
  /** What an earlier page answered as `next`. */
  readonly cursor: string | null;
}

export interface SessionPage {
  readonly sessions: readonly Omit<SessionSummary, "running">[];
  readonly next: string | null;
}

/** All that the door does not do itself. Each is handed in, so that a test can stand in for any of them. */
export interface AppDeps {
  readonly runtime: Runtime;
  /** Asked in order; the first that knows the caller wins. */
  readonly auth: readonly Authenticator[];
  readonly surfaces: readonly Surface[];
  readonly startTurn: (
    runtime: Runtime,
    env: Cloudflare.Env,
    ctx: ExecutionContext,
    request: TurnRequest,
  ) => RunningTurn;
  readonly sessions: (env: Cloudflare.Env, id: SessionId) => SessionApi;
  readonly listSessions: (db: D1Database, query: SessionQuery) => Promise<SessionPage>;
  readonly transcripts: Transcripts;
  /** Names of the settings that the agent's model refuses and the turn will drop. */
  readonly ignoredSettings: (
    runtime: Runtime,
    agent: Agent,
    env: Cloudflare.Env,
    settings: TurnRequest["settings"],
  ) => readonly string[];
  readonly log: Log;
}
