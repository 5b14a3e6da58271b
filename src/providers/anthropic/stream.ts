import type { Message, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { Diagnosis } from "../../values/diagnosis.ts";
import type { Block } from "../../values/entry.ts";
import { NO_USAGE, type Usage } from "../../values/usage.ts";
import { brokeOff } from "../broke-off.ts";
import type { ModelEvent } from "../contract.ts";
import { wholeCharacters } from "../whole-characters.ts";

type Stop = Extract<ModelEvent, { type: "stop" }>["stop"];
type StartBlock = Extract<RawMessageStreamEvent, { type: "content_block_start" }>["content_block"];

/** A block while its deltas come in. `input` and `signature` are what the deltas said, joined. */
interface Open {
  readonly start: StartBlock;
  text: string;
  input: string;
  signature: string;
  /** Fields of a compaction block's deltas. */
  compaction: Readonly<Record<string, unknown>>;
}

/**
 * The SDK's events as ours. A block that did not end is not reported as one: what was cut off is known to the caller by
 * its deltas only. Throws when the stream ends without its last event.
 */
export async function* readStream(events: AsyncIterable<RawMessageStreamEvent>): AsyncGenerator<ModelEvent> {
  let open: Open | null = null;
  let usage: Usage = NO_USAGE;
  let stop: Stop | null = null;
  let detail: string | undefined;
  for await (const event of events) {
    switch (event.type) {
      case "message_start":
        usage = usageOf(event.message.usage, usage);
        yield { type: "begun", id: event.message.id, ...diagnosisOf(event.message) };
        yield { type: "usage", usage };
        break;
      case "content_block_start":
        open = { start: event.content_block, text: "", input: "", signature: "", compaction: {} };
        break;
      case "content_block_delta": {
        if (open === null) break;
        const { delta } = event;
        if (isCompaction(open.start)) {
          open.compaction = { ...open.compaction, ...delta };
          break;
        }
        if (delta.type === "text_delta") {
          open.text += delta.text;
          if (delta.text !== "") yield { type: "text", text: delta.text };
        } else if (delta.type === "thinking_delta") {
          open.text += delta.thinking;
          if (delta.thinking !== "") yield { type: "thinking", text: delta.thinking };
        } else if (delta.type === "signature_delta") {
          open.signature += delta.signature;
        } else if (delta.type === "input_json_delta") {
          open.input += delta.partial_json;
        }
        break;
      }
      case "content_block_stop":
        if (open !== null) yield* isCompaction(open.start) ? compactionEvents(open) : blockEvents(open);
        open = null;
        break;
      case "message_delta":
        usage = usageOf(event.usage, usage);
        stop = stopOf(event.delta.stop_reason);
        detail = event.delta.stop_details?.explanation ?? undefined;
        break;
      case "message_stop":
        yield { type: "usage", usage };
        if (stop === null) throw brokeOff("the answer ended without a stop reason");
        yield detail === undefined ? { type: "stop", stop } : { type: "stop", stop, detail };
        return;
    }
  }
  yield { type: "usage", usage };
  throw brokeOff("the stream ended before the answer did");
}

/** A block of the compaction beta, which the SDK's types of the standard API do not know. */
function isCompaction(start: object): boolean {
  return "type" in start && start.type === "compaction";
}

/** The API's own compaction, which is sent back as it came. One without content failed. */
function* compactionEvents({ start, compaction: { type: _, ...fields } }: Open): Generator<ModelEvent> {
  const { content } = fields;
  if (typeof content !== "string" || content.trim() === "")
    throw brokeOff("the API could not compact the conversation");
  yield { type: "compacted", summary: content, raw: JSON.stringify({ ...start, ...fields }) };
}

/** The block as an event. Thinking without a signature was cut off, and could never be sent again. */
function* blockEvents(open: Open): Generator<ModelEvent> {
  const unsigned = open.start.type === "thinking" && open.start.signature + open.signature === "";
  if (!unsigned) yield { type: "block", block: closed(open) };
}

function closed(open: Open): Block {
  const { start } = open;
  switch (start.type) {
    case "text":
      return { type: "text", text: (start.text + open.text).toWellFormed() };
    case "thinking": {
      const thinking = start.thinking + open.text;
      const signature = start.signature + open.signature;
      return { type: "thinking", text: thinking, raw: JSON.stringify({ type: "thinking", thinking, signature }) };
    }
    case "redacted_thinking":
      return { type: "thinking", text: "", raw: JSON.stringify({ type: "redacted_thinking", data: start.data }) };
    case "tool_use":
      return { type: "call", id: start.id, name: start.name, input: wholeCharacters(open.input) || "{}" };
    default: {
      const block = open.input === "" ? start : { ...start, input: JSON.parse(open.input) };
      return { type: "opaque", raw: JSON.stringify(block) };
    }
  }
}

interface WireUsage {
  readonly input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
  readonly cache_read_input_tokens: number | null;
  readonly output_tokens: number;
}

/** Anthropic's accounting is net already: `input_tokens` is what follows the last cache marker. */
function usageOf(usage: WireUsage, before: Usage): Usage {
  return {
    input: usage.input_tokens ?? before.input,
    cacheRead: usage.cache_read_input_tokens ?? before.cacheRead,
    cacheWrite: usage.cache_creation_input_tokens ?? before.cacheWrite,
    output: usage.output_tokens,
  };
}

/** What the API says of the cache. `diagnostics` is null where it was not asked, and where it found nothing to say. */
function diagnosisOf({ diagnostics }: Pick<Message, "diagnostics">): { readonly diagnosis?: Diagnosis } {
  if (!diagnostics) return {};
  const reason = diagnostics.cache_miss_reason;
  if (reason === null) return { diagnosis: { missReason: "pending" } };
  const missed = "cache_missed_input_tokens" in reason ? { missedTokens: reason.cache_missed_input_tokens } : {};
  return { diagnosis: { missReason: reason.type, ...missed } };
}

function stopOf(reason: string | null): Stop | null {
  switch (reason) {
    case "tool_use":
      return "calls";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "refusal":
      return "refusal";
    case "pause_turn":
    case "compaction":
      return "paused";
    case null:
      return null;
    default:
      return "end";
  }
}
