import type { Item } from "./schema/items.ts";
import type { AnyRequest } from "./schema/request.ts";
import type { FunctionTool, Tool } from "./schema/tools.ts";

/** The items of a request; a string is one user message. */
export function itemsOf({ input }: Pick<AnyRequest, "input">): readonly Item[] {
  if (input === undefined || input === null) return [];
  return typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
}

/** The declared tools; none if the field is absent. */
export function toolsOf({ tools }: Pick<AnyRequest, "tools">): readonly Tool[] {
  return tools ?? [];
}

/** A function, and the namespace that it was declared in. */
export interface Placed {
  readonly tool: FunctionTool;
  readonly namespace: string | null;
  /** `tools[2]`, or `tools[2].tools[0]` inside a namespace. */
  readonly path: string;
}

/** The functions of a list of tools, those of namespaces too. */
export function functionsOf(tools: readonly Tool[], path = "tools"): Placed[] {
  return tools.flatMap((tool, index): Placed[] => {
    const at = `${path}[${index}]`;
    if (tool.type === "function") return [{ tool, namespace: null, path: at }];
    if (tool.type !== "namespace") return [];
    return tool.tools.flatMap((member, position) =>
      member.type === "function" ? [{ tool: member, namespace: tool.name, path: `${at}.tools[${position}]` }] : [],
    );
  });
}

/** Whether a tool, or one in a namespace, is withheld until something loads it. */
export function isDeferred(tool: Tool): boolean {
  if (tool.type === "namespace") return tool.tools.some((member) => member.defer_loading === true);
  return "defer_loading" in tool && tool.defer_loading === true;
}

/** The client's own search tool, if the request declares one. */
export function clientSearch(tools: readonly Tool[]): Extract<Tool, { type: "tool_search" }> | undefined {
  return tools.find(
    (tool): tool is Extract<Tool, { type: "tool_search" }> =>
      tool.type === "tool_search" && tool.execution === "client",
  );
}

/** The text of an item's content or output. */
export function textOf(content: string | readonly { readonly type: string }[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => ("text" in part && typeof part.text === "string" ? [part.text] : [])).join("\n");
}
