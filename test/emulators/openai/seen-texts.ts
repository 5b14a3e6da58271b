import type { SeenText } from "../common/canaries.ts";
import { itemsOf } from "./content.ts";
import type { AnyRequest } from "./schema/request.ts";

/** The texts of a request in the order in which they came about: the conversation, then the instructions. */
export function seenTexts(body: AnyRequest): SeenText[] {
  const texts: SeenText[] = [];
  for (const [index, item] of itemsOf(body).entries()) {
    const path = `input[${index}]`;
    if (item.type === "function_call_output" || item.type === "tool_search_output") {
      texts.push({ place: "tool", path, text: JSON.stringify(item) });
    } else if (item.type === "message" && item.role !== "assistant") {
      texts.push({ place: "prompt", path, text: JSON.stringify(item.content) });
    }
  }
  if (body.instructions) texts.push({ place: "prompt", path: "instructions", text: body.instructions });
  return texts;
}
