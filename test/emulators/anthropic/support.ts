import { afterAll, beforeAll, beforeEach } from "vitest";
import { KNOWN_BETAS } from "./betas.ts";
import { type Emulator, type EmulatorOptions, startAnthropicEmulator } from "./index.ts";

/** Any request body, before anyone has checked it. */
export type Body = Record<string, unknown>;

/** One emulator for a test file, fresh for each test. */
export function useEmulator(options: EmulatorOptions = {}): () => Emulator {
  let emulator: Emulator | undefined;
  const current = () => {
    if (emulator === undefined) throw new Error("The emulator runs only inside tests.");
    return emulator;
  };
  beforeAll(async () => {
    emulator = await startAnthropicEmulator(options);
  });
  beforeEach(() => current().reset());
  afterAll(() => current().close());
  return current;
}

/** The headers of a valid request, with every beta. */
export const headers = {
  "x-api-key": "test-key",
  "anthropic-version": "2023-06-01",
  "anthropic-beta": KNOWN_BETAS.join(","),
  "content-type": "application/json",
};

/** Posts a body as it is; strings are sent unchanged. */
export function post(
  emulator: Emulator,
  body: Body | string,
  { path = "/v1/messages", with: sent = headers }: { path?: string; with?: Record<string, string> } = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetch(`${emulator.url}${path}`, { method: "POST", headers: sent, body: text });
}

/** A tool of the application's own. */
export function tool(name: string, more: Body = {}): Body {
  return { name, description: `Does ${name}.`, input_schema: { type: "object", properties: {} }, ...more };
}

/** The smallest valid request. */
export function request(more: Body = {}): Body {
  return { model: "claude-opus-4-8", max_tokens: 64, messages: [user("Hello")], ...more };
}

export function user(...content: (string | Body)[]): Body {
  return { role: "user", content: content.map(textOrBlock) };
}

export function assistant(...content: (string | Body)[]): Body {
  return { role: "assistant", content: content.map(textOrBlock) };
}

export function system(...content: (string | Body)[]): Body {
  return { role: "system", content: content.map(textOrBlock) };
}

function textOrBlock(part: string | Body): Body {
  return typeof part === "string" ? { type: "text", text: part } : part;
}

export function use(id: string, name: string, input: Body = {}): Body {
  return { type: "tool_use", id, name, input };
}

export function result(id: string, content: unknown = "done", more: Body = {}): Body {
  return { type: "tool_result", tool_use_id: id, content, ...more };
}

export function reference(name: string): Body {
  return { type: "tool_reference", tool_name: name };
}

export function addition(name: string): Body {
  return { type: "tool_addition", tool: { type: "tool_reference", name } };
}

export function removal(name: string): Body {
  return { type: "tool_removal", tool: { type: "tool_reference", name } };
}

export const marker = { cache_control: { type: "ephemeral" } };

/** A text of about so many tokens. */
export function words(tokens: number, word = "word"): string {
  return word.padEnd(4, ".").repeat(tokens);
}
