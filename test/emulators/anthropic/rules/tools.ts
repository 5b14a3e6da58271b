import { isDeferred, isSearchTool, toolName, toolsOf } from "../content.ts";
import { invalid } from "../failure.ts";
import type { Rule } from "./rule.ts";

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** The most deferred tools of one request. */
export const MAX_DEFERRED = 10_000;

/** E-A08: names are well formed, and no two are the same. */
export const toolNames: Rule = ({ body }) => {
  const seen = new Set<string>();
  for (const [index, tool] of toolsOf(body).entries()) {
    const name = toolName(tool);
    if (name === undefined) continue;
    if (!NAME.test(name)) {
      return invalid(
        "E-A08",
        `tools.${index}.${tool.type ?? "custom"}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
      );
    }
    if (seen.has(name)) return invalid("E-A08", "tools: Tool names must be unique.");
    seen.add(name);
  }
  return null;
};

/** E-A09: one tool at least is not deferred. */
export const someToolIsNotDeferred: Rule = ({ body }) => {
  const tools = toolsOf(body);
  if (tools.length === 0 || !tools.every(isDeferred)) return null;
  return invalid("E-A09", "At least one tool must have defer_loading=false. All tools cannot be deferred.");
};

/** E-A10: a deferred tool takes no cache marker. */
export const deferredToolsHaveNoMarker: Rule = ({ body }) => {
  const marked = toolsOf(body).find((tool) => isDeferred(tool) && tool.cache_control);
  if (marked === undefined) return null;
  return invalid(
    "E-A10",
    `Tool '${toolName(marked) ?? ""}' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.`,
  );
};

/** E-A11: a search tool is never deferred. The vendor's text is not known. */
export const searchToolIsNotDeferred: Rule = ({ body }) => {
  const index = toolsOf(body).findIndex((tool) => isSearchTool(tool) && isDeferred(tool));
  if (index === -1) return null;
  return invalid("E-A11", `tools.${index}.defer_loading: tool search tools cannot be deferred`);
};

/** E-A12: a search tool has the name of its type. The vendor's text is not known. */
export const searchToolHasItsName: Rule = ({ body }) => {
  for (const [index, tool] of toolsOf(body).entries()) {
    if (!isSearchTool(tool) || tool.type == null) continue;
    const name = tool.type.replace(/_\d+$/, "");
    if (toolName(tool) !== name) return invalid("E-A12", `tools.${index}.${tool.type}.name: Input should be '${name}'`);
  }
  return null;
};

/** E-A13: the catalog's limit. The vendor's text is not known. */
export const notTooManyDeferred: Rule = ({ body }) => {
  const count = toolsOf(body).filter(isDeferred).length;
  if (count <= MAX_DEFERRED) return null;
  return invalid(
    "E-A13",
    `tools: at most ${MAX_DEFERRED} tools may have defer_loading=true. Found ${count}.`,
    "available_tools_limit_exceeded",
  );
};

/** Tool search exists from the 4.5 models on. The vendor's text is known only for tool types. */
export const modelHasToolSearch: Rule = ({ body, model }) => {
  if (model.deferral) return null;
  const tool = toolsOf(body).find((candidate) => isSearchTool(candidate) || isDeferred(candidate));
  if (tool === undefined) return null;
  const what = isSearchTool(tool) ? (tool.type ?? "") : "defer_loading";
  return invalid("E-A31", `'${body.model}' does not support tool types: ${what}`);
};
