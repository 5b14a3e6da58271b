import { toolsOf } from "./content.ts";
import type { AcceptedRequest } from "./examine.ts";
import type { Tool } from "./schema/tools.ts";

/**
 * `tools` as a response repeats them: what items of the input have loaded has left its place and stands at the end, in a
 * namespace of its own name or as a plain function. Models without tool search answer `defer_loading: null`.
 */
export function echoTools({ body, model, functions }: AcceptedRequest): Tool[] {
  const loaded = [...functions.values()].filter((callable) => callable.loaded);
  const names = new Set(loaded.map(({ name }) => name));
  const own = toolsOf(body).filter((tool) => tool.type !== "function" || !names.has(tool.name));
  const shown = model.toolSearch
    ? own
    : own.map((tool) => ("defer_loading" in tool ? { ...tool, defer_loading: null } : tool));
  return [
    ...shown,
    ...loaded.map(({ name, namespace, tool }): Tool => {
      const { defer_loading, ...plain } = tool;
      if (namespace !== name) return plain;
      return { type: "namespace", name, description: tool.description ?? "", tools: [tool] };
    }),
  ];
}
