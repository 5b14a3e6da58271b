import Anthropic from "@anthropic-ai/sdk";
import type { Answer, Emulator } from "./index.ts";

/** A request of the official client, with a tool, a deferred tool and the server's search. */
export const params: Anthropic.MessageCreateParamsNonStreaming = {
  model: "claude-opus-4-8",
  max_tokens: 64,
  messages: [{ role: "user", content: "Hello" }],
  tools: [
    { name: "look", input_schema: { type: "object" } },
    { name: "later", input_schema: { type: "object" }, defer_loading: true },
    { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
  ],
};

/** The official client, which tries nothing twice. */
export function client(emulator: Emulator): Anthropic {
  return new Anthropic({ baseURL: emulator.url, apiKey: "test-key", maxRetries: 0 });
}

/** The events that the official client hands out, and what it throws at the end, if it does. */
export async function events(emulator: Emulator, ...answers: Answer[]) {
  if (answers.length > 0) emulator.script(answers);
  const seen: Anthropic.MessageStreamEvent[] = [];
  try {
    for await (const event of await client(emulator).messages.create({ ...params, stream: true })) seen.push(event);
    return { seen, thrown: undefined };
  } catch (thrown) {
    return { seen, thrown };
  }
}

/** The message that the official client's accumulator ends with. */
export async function final(emulator: Emulator, ...answers: Answer[]) {
  emulator.script(answers);
  return await client(emulator).messages.stream(params).finalMessage();
}

/** Events in short, one word or fragment each. */
export function brief(seen: readonly Anthropic.MessageStreamEvent[]): string[] {
  return seen.map((event) => {
    switch (event.type) {
      case "content_block_start":
        return `start ${event.index} ${event.content_block.type}`;
      case "content_block_delta":
        if (event.delta.type === "input_json_delta") return event.delta.partial_json;
        return event.delta.type === "text_delta" ? event.delta.text : event.delta.type;
      case "content_block_stop":
        return `stop ${event.index}`;
      case "message_delta":
        return `delta ${event.delta.stop_reason}`;
      default:
        return event.type;
    }
  });
}
