import { unseal } from "../encrypted.ts";
import { type Failure, invalid } from "../failure.ts";
import type { Item } from "../schema/items.ts";
import type { Rule } from "./rule.ts";

/** E-O15: reasoning comes back as it was given, and right before what the model made of it. */
export const reasoningIsReplayed: Rule = ({ body, items, settings }) => {
  for (const [index, item] of items.entries()) {
    if (item.type === "compaction" && settings.foreign === "own" && unseal(item.encrypted_content) === null) {
      return unverified(item.encrypted_content);
    }
    if (item.type !== "reasoning") continue;
    const blob = item.encrypted_content;
    const known = item.id !== undefined && settings.storedItem(item.id) !== undefined;
    if (!blob && !known && settings.foreign === "own") return notStored(item.id ?? "", body.store);
    if (blob && settings.foreign === "own" && unseal(blob) === null) return unverified(blob);
    const next = items[index + 1];
    if (next === undefined || !isTheModels(next)) {
      const message = `Item '${item.id ?? ""}' of type 'reasoning' was provided without its required following item.`;
      return invalid("E-O15", message, "input");
    }
  }
  return null;
};

/** Whether the model made an item. */
function isTheModels(item: Item): boolean {
  switch (item.type) {
    case "message":
      return item.role === "assistant";
    case "function_call":
    case "custom_tool_call":
    case "tool_search_call":
    case "reasoning":
    case "compaction":
    case "item_reference":
    case "web_search_call":
    case "file_search_call":
    case "code_interpreter_call":
    case "image_generation_call":
    case "mcp_list_tools":
    case "mcp_call":
    case "mcp_approval_request":
      return true;
    default:
      return false;
  }
}

function unverified(blob: string): Failure {
  const short = `${blob.slice(0, 4)}...${blob.slice(-4)}`;
  const message = `The encrypted content ${short} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
  return invalid("E-O15", message, null, "invalid_encrypted_content");
}

/** What is not stored cannot be named. */
export function notStored(id: string, store: boolean | null | undefined): Failure {
  const hint =
    store === false
      ? " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
      : "";
  const message = `Item with id '${id}' not found.${hint}`;
  return { rule: "E-O16", status: 404, type: "invalid_request_error", message, param: "input", code: null };
}
