import type { SeenText } from "../common/canaries.ts";
import { placedBlocks } from "./content.ts";
import type { AnyRequest } from "./schema/request.ts";

/** The texts of a request in the order in which they came about: the conversation, then the system prompt. */
export function seenTexts(body: AnyRequest): SeenText[] {
  const texts: SeenText[] = [];
  for (const { block, path, role } of placedBlocks(body.messages)) {
    if (block.type === "tool_result") texts.push({ place: "tool", path, text: JSON.stringify(block.content ?? "") });
    else if (block.type === "text" && role !== "assistant") texts.push({ place: "prompt", path, text: block.text });
  }
  const { system = [] } = body;
  const blocks = typeof system === "string" ? [{ text: system }] : system;
  for (const [index, { text }] of blocks.entries()) texts.push({ place: "prompt", path: `system.${index}`, text });
  return texts;
}
