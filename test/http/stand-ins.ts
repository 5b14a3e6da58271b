/** A door with stand-ins behind it: a turn that plays scripted events, sessions and transcripts in memory. */

import type { Agent } from "../../src/define/types.ts";
import { createApp } from "../../src/http/app.ts";
import { apiKeys } from "../../src/http/auth.ts";
import type { AppDeps } from "../../src/http/deps.ts";
import type { Provider } from "../../src/providers/contract.ts";
import type { SessionApi, SessionId } from "../../src/session/contract.ts";
import { transcriptHash } from "../../src/session/transcripts.ts";
import { discovery } from "../../src/surfaces/a2a/discovery.ts";
import { chatCompletions } from "../../src/surfaces/chat-completions/routes.ts";
import type { TurnRequest } from "../../src/turn/runtime.ts";
import { Sink } from "../../src/turn/sink.ts";
import type { TurnEventBody } from "../../src/values/turn-event.ts";

export const ALICE = "a-secret-of-alice-000000000";
export const BOB = "a-secret-of-bob-00000000000";
export const KEYS = `alice:${ALICE}, bob:${BOB}:operator`;

const unused = (): never => {
  throw new Error("not part of this test");
};

/** Refuses `temperature`, as Claude since 4.7 does. */
const provider: Provider = {
  name: "stand-in",
  wire: "stand-in/1",
  facts: () => ({
    deferral: true,
    toolChanges: false,
    bound: false,
    dropsThinking: false,
    minCache: 0,
    window: 200_000,
    maxOutput: 8_000,
    refuses: new Set(["temperature"] as const),
    thinking: "none",
  }),
  missing: () => null,
  withoutCalls: (settings) => settings,
  settings: unused,
  system: unused,
  define: unused,
  schema: unused,
  items: unused,
  body: unused,
  stream: unused,
};

export function agent(name: string, model = "stand-in/model"): Agent {
  return {
    name,
    description: "",
    model,
    fallback: [],
    settings: { maxOutputTokens: 1_000 },
    instructions: "",
    tools: [],
    modes: {},
    subagents: [],
    limits: { steps: 50, repeats: 3, subrequests: 9_000, seconds: false, tokens: false },
    busy: "wait",
    hostSearch: true,
    clientSystem: "accept",
    compaction: { automatic: true, threshold: 0.8, keep: null, model: null, by: "runtime" },
    revision: 0,
    allowDestructive: false,
  };
}

/** What a stand-in turn does: it tells its events, at once or when it likes. */
export type Play = (emit: (event: TurnEventBody) => void, request: TurnRequest) => void | Promise<void>;

export const USAGE = { input: 3, cacheRead: 90, cacheWrite: 7, output: 5 };

/** The events of a turn that says `text` in one step. */
export function says(text: string): Play {
  return (emit) => {
    emit({ type: "request", step: 1, verdict: { prefix: "first" }, model: "stand-in/model" });
    emit({ type: "answering", step: 1 });
    emit({ type: "text", step: 1, text });
    emit({ type: "done", stop: "end", usage: USAGE });
  };
}

export function plays(...events: TurnEventBody[]): Play {
  return (emit) => events.forEach(emit);
}

export interface Door {
  readonly app: ReturnType<typeof createApp>;
  /** Sends a request as alice, unless its headers or the environment say otherwise. */
  fetch(path: string, init?: RequestInit, env?: Partial<Cloudflare.Env>): Promise<Response>;
  /** Posts a chat completion as alice. */
  chat(body: unknown, headers?: Record<string, string>): Promise<Response>;
  readonly turns: readonly TurnRequest[];
  readonly logged: readonly { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[];
  /** `owner/agent/hash` to conversation. */
  readonly saved: Map<string, string>;
  /** Resolves when everything given to `waitUntil` is through. */
  settled(): Promise<void>;
}

export interface Stand {
  readonly play?: Play;
  readonly agents?: readonly Agent[];
  readonly deps?: Partial<AppDeps>;
  readonly sessions?: (id: SessionId) => Partial<SessionApi>;
}

export function door({
  play = says("Hello."),
  agents = [agent("assistant"), agent("other")],
  ...stand
}: Stand = {}): Door {
  const turns: TurnRequest[] = [];
  const logged: { event: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const saved = new Map<string, string>();
  const waits: Promise<unknown>[] = [];

  const app = createApp({
    runtime: { agents, provider: (name) => (name === "stand-in" ? provider : undefined) },
    auth: [apiKeys()],
    surfaces: [chatCompletions],
    discovery,
    sessions: (_env, id) => ({ ...NO_SESSION, ...stand.sessions?.(id) }) as SessionApi,
    compact: async () => null,
    listSessions: async () => ({ sessions: [], next: null }),
    listTasks: async () => ({ marks: [], more: false, total: 0 }),
    startTurn: (_env, _ctx, request) => {
      turns.push(request);
      const sink = new Sink("turn");
      void play((event) => sink.emit(event), request);
      return { id: `turn_${turns.length}`, events: sink };
    },
    transcripts: {
      transcriptHash,
      findTranscript: async (_db, owner, agent, hash) => saved.get(`${owner}/${agent}/${hash}`) ?? null,
      saveTranscript: async (_db, { owner, agent, conversation }, hash) => {
        saved.set(`${owner}/${agent}/${hash}`, conversation);
      },
    },
    startInBackground: unused,
    requests: { findRequest: async () => null, saveRequest: async () => {} },
    log: (event, fields) => logged.push({ event, fields }),
    ...stand.deps,
  });

  // Only what the door itself touches is there.
  const ctx = {
    waitUntil: (work: Promise<unknown>) => void waits.push(work),
    passThroughOnException: unused,
    props: {},
  };
  const fetch: Door["fetch"] = async (path, init = {}, env = { HOLDFAST_API_KEYS: KEYS }) => {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${ALICE}`);
    if (headers.get("authorization") === "none") headers.delete("authorization");
    return app.request(path, { ...init, headers }, env, ctx);
  };
  return {
    app,
    fetch,
    turns,
    logged,
    saved,
    chat: (body, headers = {}) =>
      fetch("/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    async settled() {
      await Promise.all(waits);
    },
  };
}

/** What a session answers that does not exist. The door asks for nothing else. */
const NO_SESSION: Partial<SessionApi> = {
  stop: async () => false,
  summary: async () => null,
  entries: async () => null,
  calls: async () => null,
  remove: async () => false,
};

/** The message of an error in OpenAI's envelope, with its status. */
export async function refusal(response: Response) {
  const { error }: { error: { message: string; type: string; param: string | null; code: string | null } } =
    await response.json();
  return { status: response.status, ...error };
}
