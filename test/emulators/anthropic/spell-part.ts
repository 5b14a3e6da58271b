import { fragments } from "../common/fragments.ts";
import type { Part } from "./answer.ts";

const TEXT_SIZES = [3, 2, 7, 1, 12, 5];
const JSON_SIZES = [4, 3, 9, 1, 6, 14];

/** One content block: as it is at last, as it starts in a stream, and what is added to it. */
export interface SpelledBlock {
  readonly whole: Readonly<Record<string, unknown>> & { readonly type: string };
  readonly start: Readonly<Record<string, unknown>>;
  readonly deltas: readonly Readonly<Record<string, unknown>>[];
}

/** What a block needs from its surroundings. */
export interface SpellContext {
  /** A new id with this prefix. */
  mint(prefix: string): string;
  sign(thinking: string): string;
}

/** The content blocks that a part of an answer is: one, none for what steers the answer, two for a search. */
export function spellPart(part: Part, context: SpellContext): SpelledBlock[] {
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
