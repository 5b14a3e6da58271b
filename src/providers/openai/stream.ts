import type {
  Response,
  ResponseOutputItem,
  ResponseStreamEvent,
  ResponseUsage,
} from "openai/resources/responses/responses";
import type { Block } from "../../values/entry.ts";
import { SEARCH_TOOL } from "../../values/tool.ts";
import { NO_USAGE, type Usage } from "../../values/usage.ts";
import { brokeOff } from "../broke-off.ts";
import type { ModelEvent } from "../contract.ts";
import { wholeCharacters } from "../whole-characters.ts";
import { failedInAnswer } from "./errors.ts";

/**
 * The SDK's events as ours. An item that did not end is not reported as a block. Throws when the answer fails, in
 * whichever of its three forms (flat, nested, `response.failed`), and when the stream ends without its last event.
 */
export async function* readStream(events: AsyncIterable<ResponseStreamEvent>): AsyncGenerator<ModelEvent> {
  const seen = { calls: false, refusal: false };
  for await (const event of events) {
    switch (event.type) {
      case "response.created":
        yield { type: "begun", id: event.response.id };
        break;
      case "response.output_text.delta":
      case "response.refusal.delta":
        if (event.delta !== "") yield { type: "text", text: event.delta };
        break;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        if (event.delta !== "") yield { type: "thinking", text: event.delta };
        break;
      case "response.output_item.done": {
        if (event.item.type === "compaction") {
          yield { type: "compacted", summary: null, raw: rawOf(event.item) };
          break;
        }
        const block = blockOf(event.item);
        if (block === null) break;
        if (block.type === "call") seen.calls = true;
        if (refuses(event.item)) seen.refusal = true;
        yield { type: "block", block };
        break;
      }
      case "response.completed":
        yield { type: "usage", usage: usageOf(event.response.usage) };
        yield { type: "stop", stop: seen.calls ? "calls" : seen.refusal ? "refusal" : "end" };
        return;
      case "response.incomplete":
        yield { type: "usage", usage: usageOf(event.response.usage) };
        yield incomplete(event.response);
        return;
      case "response.failed":
        yield { type: "usage", usage: usageOf(event.response.usage) };
        throw failedInAnswer(event.response.error?.code, event.response.error?.message);
      case "error":
        throw failedInAnswer(event.code, event.message);
      default:
      // Pieces of what comes whole with its item, and events of tools that are never declared.
    }
  }
  throw brokeOff("the stream ended before the answer did");
}

/** A finished item. Null for what can never be sent again: calls that were cut, and reasoning without its blob. */
function blockOf(item: ResponseOutputItem): Block | null {
  const cut = "status" in item && item.status === "incomplete";
  switch (item.type) {
    case "message": {
      const said = item.content.map((part) => (part.type === "output_text" ? part.text : part.refusal)).join("");
      const text = said.toWellFormed();
      return cut ? { type: "text", text } : { type: "text", text, raw: rawOf(item) };
    }
    case "function_call":
      if (cut) return null;
      return {
        type: "call",
        id: item.call_id,
        name: item.name,
        input: wholeCharacters(item.arguments),
        raw: rawOf(item),
      };
    case "tool_search_call": {
      // One that the server executes would have no id; we declare none of those.
      if (cut || item.call_id === null) return null;
      const input = rawOf(item.arguments ?? {});
      return { type: "call", id: item.call_id, name: SEARCH_TOOL, input, raw: rawOf(item) };
    }
    case "reasoning": {
      if (!item.encrypted_content) return null;
      const text = [...item.summary, ...(item.content ?? [])].map((part) => part.text).join("\n");
      return { type: "thinking", text, raw: rawOf(item) };
    }
    default:
      return { type: "opaque", raw: rawOf(item) };
  }
}

/** JSON text. Half a surrogate pair, which UTF-8 can't carry and APIs refuse, is mended. */
function rawOf(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === "string" ? one.toWellFormed() : one));
}

function refuses(item: ResponseOutputItem): boolean {
  return item.type === "message" && item.content.some((part) => part.type === "refusal");
}

function incomplete({ incomplete_details: details }: Response): ModelEvent {
  if (details?.reason !== "content_filter") return { type: "stop", stop: "length" };
  return { type: "stop", stop: "refusal", detail: "The provider's content filter ended the answer." };
}

/** OpenAI's accounting is gross: `input_tokens` includes what was read from the cache and written to it. */
function usageOf(usage: ResponseUsage | null | undefined): Usage {
  if (!usage) return NO_USAGE;
  const cacheRead = usage.input_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = usage.input_tokens_details?.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, usage.input_tokens - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: usage.output_tokens,
  };
}
