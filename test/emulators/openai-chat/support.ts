import OpenAI from "openai";
import type { ChatCompletionChunk, ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Answer, type ChatEmulator, type ChatEmulatorOptions, startChatEmulator } from "./index.ts";

/** Any request body, before anyone has checked it. */
export type Body = Record<string, unknown>;

/** One emulator for a test file, fresh for each test. */
export function useEmulator(options: ChatEmulatorOptions = {}): () => ChatEmulator {
  let emulator: ChatEmulator | undefined;
  const current = () => {
    if (emulator === undefined) throw new Error("The emulator runs only inside tests.");
    return emulator;
  };
  beforeAll(async () => {
    emulator = await startChatEmulator(options);
  });
  beforeEach(() => current().reset());
  afterAll(() => current().close());
  return current;
}

/** Posts a body as it is. */
export function post(emulator: ChatEmulator, body: Body): Promise<Response> {
  return fetch(`${emulator.url}/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer test-key", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** The smallest valid request. */
export function request(more: Body = {}): Body {
  return { model: "acme-1", messages: [user("Hello")], ...more };
}

export function tool(name: string, more: Body = {}): Body {
  return { type: "function", function: { name, parameters: { type: "object", properties: {} }, ...more } };
}

export function user(content: unknown): Body {
  return { role: "user", content };
}

export function assistant(content: unknown, more: Body = {}): Body {
  return { role: "assistant", content, ...more };
}

/** An assistant's message that makes these calls. */
export function calls(...ids: string[]): Body {
  const tool_calls = ids.map((id) => ({ id, type: "function", function: { name: "look", arguments: "{}" } }));
  return assistant(null, { tool_calls });
}

export function answer(tool_call_id: string, content = "done"): Body {
  return { role: "tool", tool_call_id, content };
}

/** A request of the official client. */
export const params: ChatCompletionCreateParamsNonStreaming = {
  model: "acme-1",
  messages: [{ role: "user", content: "Hello" }],
  tools: [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }],
};

/** The official client, which tries nothing twice. */
export function client(emulator: ChatEmulator): OpenAI {
  return new OpenAI({ baseURL: emulator.url, apiKey: "test-key", maxRetries: 0 });
}

/** The chunks that the official client hands out, and what it throws at the end, if it does. */
export async function chunksOf(emulator: ChatEmulator, said: Answer) {
  emulator.script(said);
  const seen: ChatCompletionChunk[] = [];
  const stream_options = { include_usage: true };
  try {
    const stream = await client(emulator).chat.completions.create({ ...params, stream: true, stream_options });
    for await (const chunk of stream) seen.push(chunk);
    return { seen, thrown: undefined };
  } catch (thrown) {
    return { seen, thrown };
  }
}
