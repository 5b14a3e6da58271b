import type { Hono } from "hono";
import { checkAgents } from "../define/check-agents.ts";
import { DefinitionError } from "../define/definition-error.ts";
import { unknownOptions, unknownOptionsProblem } from "../define/options.ts";
import { checkedQuotas, type Quotas } from "../define/quotas.ts";
import type { Agent } from "../define/types.ts";
import { createApp } from "../http/app.ts";
import { type Authenticator, apiKeys } from "../http/auth.ts";
import { checkConversationId } from "../http/conversation.ts";
import type { HttpEnv } from "../http/deps.ts";
import { jsonLog } from "../http/log.ts";
import type { Provider } from "../providers/contract.ts";
import { SHIPPED } from "../providers/registry.ts";
import { sessionClient } from "../session/client.ts";
import { listSessions } from "../session/list.ts";
import * as requests from "../session/requests.ts";
import { listTasks } from "../session/task-list.ts";
import * as transcripts from "../session/transcripts.ts";
import { compactSession } from "../turn/compact-session.ts";
import { registerHost } from "../turn/hosts.ts";
import type { Hooks } from "../turn/observe.ts";
import { plainRequest } from "../turn/plain-request.ts";
import type { Runtime } from "../turn/runtime.ts";
import { startInBackground, startTurn, type TurnHost } from "../turn/start.ts";
import type { Part } from "../values/entry.ts";
import type { Owner } from "../values/owner.ts";
import type { TurnEvent } from "../values/turn-event.ts";
import { discovery } from "./a2a/discovery.ts";
import { a2a } from "./a2a/routes.ts";
import { chatCompletions } from "./chat-completions/routes.ts";

export interface HoldfastOptions extends Hooks {
  /** The first one answers on bare paths; each has `/agents/:name/…`. */
  readonly agents: readonly Agent[];
  /** Asked in order; the first that knows the caller wins. Default: `[apiKeys()]`. */
  readonly auth?: readonly Authenticator[];
  /** Further providers, by the name before the slash of a model's name. */
  readonly providers?: Readonly<Record<string, Provider>>;
  /** What one owner may use. Absent: all they like, and nothing is counted. */
  readonly quotas?: Partial<Quotas>;
}

/** A turn started from code: cron, a queue, a webhook. */
export interface CodeTurn {
  /** Name of one of the agents. */
  readonly agent: string;
  readonly owner: Owner;
  /** Conversation id, `^[A-Za-z0-9._:-]{1,128}$`; the same id goes on with the same session. */
  readonly conversation: string;
  readonly input: string | readonly Part[];
  /** W3C `traceparent` of what started it: the turn's spans then belong to that trace. */
  readonly traceparent?: string;
}

export interface Holdfast {
  fetch(request: Request, env: Cloudflare.Env, ctx: ExecutionContext): Response | Promise<Response>;
  /** The app behind `fetch`, to be mounted in another one. */
  readonly app: Hono<HttpEnv>;
  /** Runs one turn. The turn goes on to its end whether or not the events are read. */
  turn(env: Cloudflare.Env, ctx: Pick<ExecutionContext, "waitUntil">, turn: CodeTurn): AsyncIterable<TurnEvent>;
}

const OPTIONS = ["agents", "auth", "providers", "quotas", "onModelCall", "trace"];

/**
 * Makes the worker: `export default holdfast({ agents: [assistant] })`. Throws a {@link DefinitionError} that says what
 * is wrong and where, when the worker starts.
 */
export function holdfast(options: HoldfastOptions): Holdfast {
  const unknown = unknownOptions(options, OPTIONS);
  if (unknown.length > 0) throw new DefinitionError(unknownOptionsProblem("holdfast()", unknown, OPTIONS), {});
  const { agents, auth = [apiKeys()], providers = {}, onModelCall, trace } = options;
  checkAgents(agents);
  for (const [name, hook] of Object.entries({ onModelCall, trace })) {
    if (hook !== undefined && typeof hook !== "function")
      throw new DefinitionError(`holdfast() takes a function as "${name}"`, {});
  }
  const quotas = options.quotas === undefined ? null : checkedQuotas(options.quotas);
  const runtime: Runtime = {
    agents,
    provider: (name) => (Object.hasOwn(providers, name) ? providers[name] : SHIPPED.find((own) => own.name === name)),
  };
  const host: TurnHost = {
    runtime,
    sessions: sessionClient,
    log: jsonLog,
    hooks: { onModelCall, trace },
    quotas,
    push: async (env, job) => (await import("./a2a/push-delivery.ts")).deliverPush(sessionClient, env, job),
  };
  registerHost(host);
  const app = createApp({
    runtime,
    auth,
    surfaces: [chatCompletions, a2a],
    discovery,
    startTurn: (env, ctx, request) => startTurn(host, env, ctx, request),
    startInBackground: (env, request) => startInBackground(host, env, request),
    sessions: sessionClient,
    compact: (env, ctx, asked) => compactSession(host, env, ctx, asked),
    quotas,
    listSessions,
    listTasks,
    transcripts,
    requests,
    log: jsonLog,
  });
  return {
    app,
    fetch: (request, env, ctx) => app.fetch(request, env, ctx),
    turn(env, ctx, { agent: name, owner, conversation, input, traceparent = null }) {
      const agent = agents.find((one) => one.name === name);
      if (agent === undefined) throw new Error(`there is no agent named ${JSON.stringify(name)}`);
      const content: readonly Part[] = typeof input === "string" ? [{ type: "text", text: input }] : input;
      const at = { id: checkConversationId(conversation, "conversation"), minted: false };
      const request = plainRequest({ agent, owner, conversation: at, requestId: "code", traceparent }, content);
      const turn = startTurn(host, env, ctx, request);
      return turn.events;
    },
  };
}
