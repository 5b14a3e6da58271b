import { invalid } from "../failure.ts";
import type { Item } from "../schema/items.ts";
import { notStored } from "./reasoning.ts";
import type { Rule } from "./rule.ts";

/** E-O16: a response that is continued exists. */
export const previousResponseExists: Rule = ({ body, settings }) => {
  const id = body.previous_response_id;
  if (!id || settings.foreign === "any" || settings.stored(id) !== undefined) return null;
  const message = `Previous response with id '${id}' not found.`;
  return invalid("E-O16", message, "previous_response_id", "previous_response_not_found");
};

/** E-O16: an item that is only named is stored. */
export const referencedItemsExist: Rule = ({ body, items, settings }) => {
  if (settings.foreign === "any") return null;
  const missing = items.find((item) => item.type === "item_reference");
  return missing === undefined ? null : notStored(missing.id ?? "", body.store);
};

/** E-O17: what asks for a compaction comes last. The vendor's text is not known. */
export const triggerComesLast: Rule = ({ items }) => {
  const index = items.findIndex(({ type }) => type === "compaction_trigger");
  if (index === -1 || index === items.length - 1) return null;
  return invalid("E-O17", "The 'compaction_trigger' item must be the last item of 'input'.", `input[${index}]`);
};

/** There is something to answer. */
export const hasInput: Rule = ({ body, items }) => {
  if (items.length > 0 || body.previous_response_id || body.conversation) return null;
  const message = "One of 'input' or 'previous_response_id' or 'prompt' or 'conversation' must be provided.";
  return invalid("E-O02", message, null, "missing_required_parameter");
};

const PREFIXES: Readonly<Partial<Record<Item["type"], string>>> = {
  compaction: "cmp",
  function_call: "fc",
  message: "msg",
  reasoning: "rs",
};
const MAX_CALL_ID = 64;

/** E-O02: ids begin as those of their type do, stand once, and call ids are not too long. */
export const idsAreWellFormed: Rule = ({ items }) => {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const prefix = PREFIXES[item.type];
    const { id } = item;
    if (id && prefix !== undefined && !id.startsWith(prefix)) {
      const param = `input[${index}].id`;
      const message = `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`;
      return invalid("E-O02", message, param, "invalid_value");
    }
    if (id && item.type !== "item_reference" && seen.has(id)) {
      const message = `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`;
      return invalid("E-O02", message, "input");
    }
    if (id) seen.add(id);
    if (item.type === "tool_search_call" && item.execution === "client" && !item.call_id) {
      const param = `input[${index}].call_id`;
      return invalid("E-O02", `Missing required parameter: '${param}'.`, param, "missing_required_parameter");
    }
    const callId = "call_id" in item && typeof item.call_id === "string" ? item.call_id : "";
    if (callId.length > MAX_CALL_ID) {
      const param = `input[${index}].call_id`;
      const message = `Invalid '${param}': string too long. Expected a string with maximum length ${MAX_CALL_ID}, but got a string with length ${callId.length} instead.`;
      return invalid("E-O02", message, param, "string_above_max_length");
    }
  }
  return null;
};
