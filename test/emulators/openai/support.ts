import { afterAll, beforeAll, beforeEach } from "vitest";
import { type OpenAIEmulator, type OpenAIEmulatorOptions, startOpenAIEmulator } from "./index.ts";

/** Any request body, before anyone has checked it. */
export type Body = Record<string, unknown>;

/** One emulator for a test file, fresh for each test. */
export function useEmulator(options: OpenAIEmulatorOptions = {}): () => OpenAIEmulator {
  let emulator: OpenAIEmulator | undefined;
  const current = () => {
    if (emulator === undefined) throw new Error("The emulator runs only inside tests.");
    return emulator;
  };
  beforeAll(async () => {
    emulator = await startOpenAIEmulator(options);
  });
  beforeEach(() => current().reset());
  afterAll(() => current().close());
  return current;
}

/** The headers of a valid request. */
export const headers = { authorization: "Bearer test-key", "content-type": "application/json" };

/** Posts a body as it is; strings are sent unchanged. */
export function post(
  emulator: { readonly url: string },
  body: Body | string,
  { path = "/responses", with: sent = headers }: { path?: string; with?: Record<string, string> } = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(`${emulator.url}${path}`, { method: "POST", headers: sent, body: text });
}

/** A function of the application's own. */
export function tool(name: string, more: Body = {}): Body {
  return {
    type: "function",
    name,
    description: `Does ${name}.`,
    parameters: { type: "object", properties: {} },
    ...more,
  };
}

/** The client's own search. */
export const clientSearch: Body = {
  type: "tool_search",
  execution: "client",
  description: "Finds tools.",
  parameters: { type: "object", properties: { query: { type: "string" } } },
};

/** The smallest valid request of a client that keeps its own history. */
export function request(more: Body = {}): Body {
  return { model: "gpt-5.4", store: false, input: [user("Hello")], ...more };
}

export function user(content: unknown): Body {
  return { type: "message", role: "user", content };
}

export function assistant(text: string): Body {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] };
}

export function developer(content: unknown): Body {
  return { type: "message", role: "developer", content };
}

export function use(call_id: string, name: string, more: Body = {}): Body {
  return { type: "function_call", call_id, name, arguments: "{}", ...more };
}

export function output(call_id: string, said: unknown = "done"): Body {
  return { type: "function_call_output", call_id, output: said };
}

export function searched(call_id: string, more: Body = {}): Body {
  return { type: "tool_search_call", execution: "client", call_id, status: "completed", arguments: {}, ...more };
}

export function loads(call_id: string, ...tools: Body[]): Body {
  return { type: "tool_search_output", execution: "client", call_id, status: "completed", tools };
}

export function adds(...tools: Body[]): Body {
  return { type: "additional_tools", role: "developer", tools };
}

/** A text of about so many tokens. */
export function words(tokens: number, word = "word"): string {
  return word.padEnd(4, ".").repeat(tokens);
}
