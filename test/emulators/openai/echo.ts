import { toolsOf } from "./content.ts";
import type { AcceptedRequest } from "./examine.ts";
import type { Tool } from "./schema/tools.ts";

/**
 * `tools` as a response repeats them: what items of the input have loaded has left its place and stands at the end, in a
 * namespace of its own name or as a plain function. Models without tool search answer `defer_loading: null`.
 */
export function echoTools({ body, model, functions }: AcceptedRequest): Tool[] {
  const tools = toolsOf(body);
  if (!model.toolSearch)
    return tools.map((tool) => ("defer_loading" in tool ? { ...tool, defer_loading: null } : tool));
  const loaded = [...functions.values()].filter((callable) => callable.loaded);
  const names = new Set(loaded.map(({ name }) => name));
  return [
    ...tools.filter((tool) => tool.type !== "function" || !names.has(tool.name)),
    ...loaded.map(({ name, namespace, tool }): Tool => {
      const { defer_loading, ...plain } = tool;
      if (namespace !== name) return plain;
      return { type: "namespace", name, description: tool.description ?? "", tools: [tool] };
    }),
  ];
}
