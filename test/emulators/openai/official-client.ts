import OpenAI from "openai";
import type { ResponseCreateParamsNonStreaming, ResponseStreamEvent } from "openai/resources/responses/responses";
import type { Answer, OpenAIEmulator } from "./index.ts";

/** A request of the official client, with a function, a deferred function and the server's search. */
export const params: ResponseCreateParamsNonStreaming = {
  model: "gpt-5.4",
  store: false,
  include: ["reasoning.encrypted_content"],
  input: [{ role: "user", content: "Hello" }],
  tools: [
    { type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false },
    {
      type: "function",
      name: "later",
      description: "Comes later.",
      parameters: { type: "object", properties: {} },
      strict: false,
      defer_loading: true,
    },
    { type: "tool_search" },
  ],
};

/** The same with the client's own search and nothing deferred. */
export const clientParams: ResponseCreateParamsNonStreaming = {
  ...params,
  tools: [
    ...(params.tools ?? []).slice(0, 1),
    {
      type: "tool_search",
      execution: "client",
      description: "Finds tools.",
      parameters: { type: "object", properties: { query: { type: "string" } } },
    },
  ],
};

/** The official client, which tries nothing twice. */
export function client(emulator: OpenAIEmulator): OpenAI {
  return new OpenAI({ baseURL: emulator.url, apiKey: "test-key", maxRetries: 0 });
}

/** The events that the official client hands out, and what it throws at the end, if it does. */
export async function events(emulator: OpenAIEmulator, answer: Answer, body = params) {
  emulator.script(answer);
  const seen: ResponseStreamEvent[] = [];
  try {
    for await (const event of await client(emulator).responses.create({ ...body, stream: true })) seen.push(event);
    return { seen, thrown: undefined };
  } catch (thrown) {
    return { seen, thrown };
  }
}

/** The response that the official client gets without a stream. */
export async function whole(emulator: OpenAIEmulator, answer: Answer, body = params) {
  emulator.script(answer);
  return await client(emulator).responses.create(body);
}

/** Events in short, one word or fragment each. */
export function brief(seen: readonly ResponseStreamEvent[]): string[] {
  return seen.map((event) => {
    switch (event.type) {
      case "response.output_item.added":
        return `added ${event.output_index} ${event.item.type}`;
      case "response.output_item.done":
        return `done ${event.output_index} ${event.item.type}`;
      case "response.output_text.delta":
      case "response.refusal.delta":
      case "response.function_call_arguments.delta":
      case "response.reasoning_summary_text.delta":
        return event.delta;
      default:
        return event.type.replace("response.", "");
    }
  });
}
