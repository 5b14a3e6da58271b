import { fragments } from "../common/fragments.ts";
import type { Part, RefusalCategory, StopReason } from "./answer.ts";

/** One record of a stream. */
export interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What an answer needs from its surroundings. */
export interface CompileContext {
  readonly visible: readonly string[];
  /** The names in `tools`. */
  readonly declared: ReadonlySet<string>;
  /** A new id with this prefix. */
  mint(prefix: string): string;
  sign(thinking: string): string;
}

interface StopDetails {
  readonly type: "refusal";
  readonly category: RefusalCategory | null;
  readonly explanation: string | null;
}

/** An answer as the API spells it: whole, and in events. */
export interface Compiled {
  /** The content of an answer that is not streamed. */
  readonly content: readonly Readonly<Record<string, unknown>>[];
  /** The events between `message_start` and `message_delta`. */
  readonly events: readonly WireEvent[];
  readonly stopReason: StopReason;
  readonly stopDetails: StopDetails | null;
  readonly outputTokens: number;
  /** Tokens after which the server sampled again, once for each of its searches. */
  readonly passes: readonly number[];
}

const TEXT_SIZES = [3, 2, 7, 1, 12, 5];
const JSON_SIZES = [4, 3, 9, 1, 6, 14];

/** Spells out an answer. Throws if it calls or finds a tool that it cannot: then the test's script is wrong. */
export function compile(parts: readonly Part[], context: CompileContext): Compiled {
  const callable = new Set(context.visible);
  const blocks: SpelledBlock[] = [];
  const passes: number[] = [];
  let stopReason: StopReason | null = null;
  let stopDetails: StopDetails | null = null;
  for (const part of parts) {
    if (part.kind === "stop") stopReason = part.reason;
    if (part.kind === "refusal") {
      stopReason = "refusal";
      stopDetails = { type: "refusal", category: part.category, explanation: part.explanation };
    }
    if (part.kind === "call" && !part.unseen) requireVisible(part.name, callable);
    if (part.kind === "search") {
      for (const name of part.found) {
        requireDeclared(name, context.declared);
        callable.add(name);
      }
    }
    blocks.push(...spell(part, context));
    if (part.kind === "search") passes.push(tokensOf(blocks));
  }
  const calls = blocks.some((block) => block.whole.type === "tool_use");
  return {
    content: blocks.map((block) => block.whole),
    events: withPing(blocks.flatMap(eventsOf)),
    stopReason: stopReason ?? (calls ? "tool_use" : "end_turn"),
    stopDetails,
    outputTokens: Math.max(1, tokensOf(blocks)),
    passes,
  };
}

function requireVisible(name: string, visible: ReadonlySet<string>): void {
  if (visible.has(name)) return;
  throw new Error(
    `The script calls '${name}', which this request does not make visible. Visible: ${[...visible].join(", ")}`,
  );
}

function requireDeclared(name: string, declared: ReadonlySet<string>): void {
  if (!declared.has(name)) throw new Error(`The script finds '${name}', which is not among the tools of this request.`);
}

interface SpelledBlock {
  readonly whole: Readonly<Record<string, unknown>> & { readonly type: string };
  readonly start: Readonly<Record<string, unknown>>;
  readonly deltas: readonly Readonly<Record<string, unknown>>[];
}

function spell(part: Part, context: CompileContext): SpelledBlock[] {
  switch (part.kind) {
    case "text":
      return [
        {
          whole: { type: "text", text: part.text },
          start: { type: "text", text: "" },
          deltas: fragments(part.text, TEXT_SIZES).map((text) => ({ type: "text_delta", text })),
        },
      ];
    case "thinking": {
      const signature = context.sign(part.text);
      const deltas = fragments(part.text, TEXT_SIZES).map((thinking) => ({ type: "thinking_delta", thinking }));
      return [
        {
          whole: { type: "thinking", thinking: part.text, signature },
          start: { type: "thinking", thinking: "", signature: "" },
          deltas: [...deltas, { type: "signature_delta", signature }],
        },
      ];
    }
    case "redacted":
      return [atOnce({ type: "redacted_thinking", data: part.data })];
    case "call":
      return [
        spellCall("tool_use", part.id ?? context.mint("toolu_"), part.name, part.json, { caller: { type: "direct" } }),
      ];
    case "server_call":
      return [spellCall("server_tool_use", context.mint("srvtoolu_"), part.name, part.json)];
    case "search": {
      const id = context.mint("srvtoolu_");
      const key = part.tool.startsWith("tool_search_tool_regex") ? "pattern" : "query";
      const references = part.found.map((name) => ({ type: "tool_reference", tool_name: name }));
      return [
        spellCall("server_tool_use", id, part.tool, JSON.stringify({ [key]: part.query })),
        atOnce({
          type: "tool_search_tool_result",
          tool_use_id: id,
          content: { type: "tool_search_tool_search_result", tool_references: references },
        }),
      ];
    }
    case "compaction": {
      const { content } = part;
      return [
        {
          whole: { type: "compaction", content, encrypted_content: null },
          start: { type: "compaction", content: null, encrypted_content: null },
          deltas: [{ type: "compaction_delta", content, encrypted_content: null }],
        },
      ];
    }
    case "stop":
    case "refusal":
    case "error":
    case "destroy":
    case "park":
    case "http":
      return [];
  }
}

function atOnce(whole: SpelledBlock["whole"]): SpelledBlock {
  return { whole, start: whole, deltas: [] };
}

function spellCall(type: string, id: string, name: string, json: string, more: object = {}): SpelledBlock {
  const pieces = ["", ...fragments(json, JSON_SIZES)];
  return {
    whole: { type, id, name, input: parsedOrEmpty(json), ...more },
    start: { type, id, name, input: {}, ...more },
    deltas: pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  };
}

/** An answer that is not streamed cannot hold broken JSON: then the input is empty. */
function parsedOrEmpty(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function eventsOf(block: SpelledBlock, index: number): WireEvent[] {
  return [
    { type: "content_block_start", index, content_block: block.start },
    ...block.deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** One `ping`, where the API mostly sends it: after the first block has begun. */
function withPing(events: readonly WireEvent[]): WireEvent[] {
  return events.length === 0 ? [] : [...events.slice(0, 1), { type: "ping" }, ...events.slice(1)];
}

function tokensOf(blocks: readonly SpelledBlock[]): number {
  return Math.ceil(blocks.reduce((sum, block) => sum + JSON.stringify(block.whole).length, 0) / 4);
}
