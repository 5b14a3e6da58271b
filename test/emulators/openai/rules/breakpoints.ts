import { invalid } from "../failure.ts";
import type { Item } from "../schema/items.ts";
import type { Rule } from "./rule.ts";

/** The most explicit boundaries of one request. */
export const MAX_BREAKPOINTS = 4;

/** How many explicit boundaries stand in an item. */
export function breakpointsIn(item: Item): number {
  const content = "content" in item ? item.content : "output" in item ? item.output : null;
  if (!Array.isArray(content)) return 0;
  return content.filter((part) => "prompt_cache_breakpoint" in part && part.prompt_cache_breakpoint).length;
}

/** E-O18: explicit boundaries are few, and only for models that take them. The vendor's texts are not known. */
export const breakpointsAreTaken: Rule = ({ body, items, model }) => {
  const count = items.reduce((sum, item) => sum + breakpointsIn(item), 0);
  if (model.cache.kind !== "boundaries" && (count > 0 || body.prompt_cache_options)) {
    const param = body.prompt_cache_options ? "prompt_cache_options" : "prompt_cache_breakpoint";
    const message = `Unsupported parameter: '${param}' is not supported with this model.`;
    return invalid("E-O18", message, param, "unsupported_parameter");
  }
  if (count <= MAX_BREAKPOINTS) return null;
  const message = `A maximum of ${MAX_BREAKPOINTS} prompt cache breakpoints may be provided. Found ${count}.`;
  return invalid("E-O18", message, "input");
};
