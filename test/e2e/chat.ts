import { expect } from "vitest";
import type { CallRecord } from "../../src/session/contract.ts";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import { type Emulator, type RecordedRequest, startAnthropicEmulator } from "../emulators/anthropic/index.ts";
import { startWorkerd, type Workerd, type WorkerdOptions } from "../workerd.ts";

/** Keys of the owners that tests act as. */
export const KEYS = { ann: "ann-secret-ann-secret-ann", bob: "bob-secret-bob-secret-bob" } as const;
export type Who = keyof typeof KEYS;

/** One answer of the worker's Chat Completions. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly error: { readonly message: string; readonly type: string; readonly code: string | null } | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly body: any;
}

/** The worker in workerd, and the model it talks to. */
export interface Stage {
  readonly workerd: Workerd;
  readonly model: Emulator;
  /** Says something in a conversation, as the first agent's client or another's. */
  say(conversation: string | null, text: string, options?: SayOptions): Promise<Reply>;
  get(path: string, who?: Who): Promise<Reply>;
  send(method: string, path: string, who?: Who, body?: string): Promise<Reply>;
  /** Calls the object of ann's session with the first agent: a method of it, or `query` with a statement. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  object(conversation: string, method: string, ...args: unknown[]): Promise<any>;
  /** The requests the model got since the last call of this. */
  takeRequests(): RecordedRequest[];
  close(): Promise<void>;
}

export interface SayOptions {
  readonly who?: Who;
  readonly agent?: string;
  readonly history?: readonly object[];
  readonly body?: object;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  /** Which isolate is asked, see `Workerd.fetchClone`; 0 is the first. */
  readonly isolate?: number;
}

/** Starts the test worker and an emulator. `bindings` are the worker's settings, see `worker.ts`. */
export async function startStage(
  bindings: Record<string, string> = {},
  options: Partial<Pick<WorkerdOptions, "entry" | "clones" | "migrations" | "requestsPerMinute">> = {},
): Promise<Stage> {
  const model = await startAnthropicEmulator();
  const workerd = await startWorkerd({
    entry: "test/e2e/worker.ts",
    bindings: {
      MODEL: "anthropic/claude-sonnet-5",
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: model.url,
      HOLDFAST_API_KEYS: Object.entries(KEYS)
        .map(([name, secret]) => `${name}:${secret}`)
        .join(","),
      ...bindings,
    },
    verbose: process.env.VERBOSE !== undefined,
    ...options,
  });
  let seen = 0;
  const send: Stage["send"] = async (method, path, who = "ann", body) => {
    const response = await workerd.fetch(path, {
      method,
      headers: { authorization: `Bearer ${KEYS[who]}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
    return reply(response);
  };
  return {
    workerd,
    model,
    send,
    get: (path, who) => send("GET", path, who),
    async object(conversation, method, ...args) {
      const name = JSON.stringify(["ann", "tester", conversation]);
      const body = JSON.stringify({ name, method, args });
      return (await workerd.fetch("/test/object", { method: "POST", body })).json();
    },
    async say(conversation, text, options = {}) {
      const { who = "ann", agent = "tester", history = [], body = {}, headers = {}, signal, isolate = 0 } = options;
      const ask = (path: string, init: RequestInit) =>
        isolate === 0 ? workerd.fetch(path, init) : workerd.fetchClone(isolate, path, init);
      const response = await ask("/v1/chat/completions", {
        method: "POST",
        headers: {
          authorization: `Bearer ${KEYS[who]}`,
          "content-type": "application/json",
          ...(conversation === null ? {} : { "x-conversation-id": conversation }),
          ...headers,
        },
        body: JSON.stringify({ model: agent, messages: [...history, { role: "user", content: text }], ...body }),
        ...(signal === undefined ? {} : { signal }),
      });
      return reply(response);
    },
    takeRequests() {
      const taken = model.requests.slice(seen);
      seen = model.requests.length;
      return taken;
    },
    async close() {
      await workerd.dispose();
      await model.close();
    },
  };
}

async function reply(response: Response): Promise<Reply> {
  const raw = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  let body: any = null;
  try {
    body = JSON.parse(raw);
  } catch {
    body = raw;
  }
  return {
    status: response.status,
    headers: response.headers,
    text: body?.choices?.[0]?.message?.content ?? "",
    error: body?.error ?? null,
    body,
  };
}

/** Every request was accepted by the emulator, and extends the one before it. */
export function expectAllExtend(requests: readonly RecordedRequest[]): void {
  for (const request of requests) expectValid(request);
  for (const [index, request] of requests.entries()) {
    const before = requests[index - 1];
    if (before !== undefined) expect(whyNotExtends(before.bodyText, request.bodyText)).toBeNull();
  }
}

/** The emulator accepted the request and saw nothing in it that should not be there. */
export function expectValid(request: RecordedRequest): void {
  expect(request.error, request.error?.message ?? "").toBeNull();
  expect(request.flags).toEqual([]);
}

/** Names of the tools that a request declares: inline in order, and deferred. */
export function declared(request: RecordedRequest | undefined): { inline: string[]; deferred: string[] } {
  const body: { tools?: { name: string; defer_loading?: boolean }[] } = JSON.parse(request?.bodyText ?? "{}");
  const tools = body.tools ?? [];
  return {
    inline: tools.filter((tool) => !tool.defer_loading).map(({ name }) => name),
    deferred: tools.filter((tool) => tool.defer_loading).map(({ name }) => name),
  };
}

/** Where each deferred tool is loaded: name to the id of the result that refers to it. */
export function loadedAt(request: RecordedRequest | undefined): Record<string, string> {
  const loaded: Record<string, string> = {};
  const body: { messages: { content: { type: string; tool_use_id?: string; content?: unknown }[] }[] } = JSON.parse(
    request?.bodyText ?? '{"messages":[]}',
  );
  for (const message of body.messages) {
    for (const block of message.content) {
      if (block.type !== "tool_result" || !Array.isArray(block.content)) continue;
      for (const part of block.content)
        if (part.type === "tool_reference") loaded[part.tool_name] = block.tool_use_id ?? "";
    }
  }
  return loaded;
}

/** The deferrals in the object of ann's session, once D1 has them too; that both are the same is asserted. */
export async function deferrals(stage: Stage, conversation: string): Promise<{ value: string; rev: number }> {
  await stage.object(conversation, "flushed");
  const own = "SELECT deferrals AS value, deferrals_rev AS rev FROM session";
  const [here] = await stage.object(conversation, "query", own);
  const copy = "SELECT tool_deferrals AS value FROM sessions WHERE conversation = ?";
  const there = await (await stage.workerd.d1()).prepare(copy).bind(conversation).first<{ value: string }>();
  expect(there?.value).toBe(here.value);
  return here;
}

/** How each request of ann's session stands to the one before it in its chain, as in `x-holdfast-prefix`. */
export async function verdicts(stage: Stage, conversation: string): Promise<string[]> {
  const { calls }: { calls: CallRecord[] } = await stage.object(conversation, "calls", 0, 1000);
  return calls.map(({ verdict }) => (verdict.prefix === "break" ? `break; cause=${verdict.cause}` : verdict.prefix));
}
