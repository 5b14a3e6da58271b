import type { Tool } from "./types.ts";

/** The same tools as lazy ones: their definitions are sent only once `tool_search` has found them. */
export function lazy(...tools: readonly (Tool | readonly Tool[])[]): Tool[] {
  return tools.flat().map((tool) => ({ ...tool, lazy: true }));
}
