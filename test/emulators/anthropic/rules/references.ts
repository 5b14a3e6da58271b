import { placedBlocks, toolName, toolsOf } from "../content.ts";
import { invalid } from "../failure.ts";
import type { Block } from "../schema/blocks.ts";
import type { Tool } from "../schema/tools.ts";
import type { Rule } from "./rule.ts";

/** The names that a block refers to, in a result of the application's search or of the server's. */
export function referencedNames(block: Block): string[] {
  if (block.type === "tool_result" && Array.isArray(block.content)) {
    return block.content.flatMap((part) => (part.type === "tool_reference" ? [part.tool_name] : []));
  }
  if (block.type === "tool_search_tool_result" && "tool_references" in block.content) {
    return block.content.tool_references.map((part) => part.tool_name);
  }
  return [];
}

/**
 * E-A25 and E-A30: what is referred to exists, in `tools` or defined by value earlier. Names of plain calls are not
 * checked (E-A26), and a reference to a tool that is not deferred is fine (E-A27).
 */
export const referencesResolve: Rule = ({ body }) => {
  const defined = new Map<string, Tool>();
  for (const tool of toolsOf(body)) {
    const name = toolName(tool);
    if (name !== undefined) defined.set(name, tool);
  }
  for (const { block, path } of placedBlocks(body.messages)) {
    const missing = referencedNames(block).find((name) => !defined.has(name));
    if (missing !== undefined) {
      return invalid("E-A25", `Tool reference '${missing}' not found in available tools`);
    }
    if (block.type !== "tool_addition" && block.type !== "tool_removal") continue;
    const { tool } = block;
    if (tool.type === "tool_definition") {
      const name = toolName(tool.definition);
      if (name === undefined) continue;
      const before = defined.get(name);
      if (before !== undefined && kind(before) !== kind(tool.definition)) {
        return invalid(
          "E-A30",
          `${path}: tool '${name}' is already defined as another kind of tool`,
          "tool_name_conflict",
        );
      }
      defined.set(name, tool.definition);
    } else if (tool.type === "tool_reference" && !defined.has(tool.name)) {
      return invalid(
        "E-A30",
        `tool_addition/tool_removal references unknown tool '${tool.name}'`,
        "tool_reference_unresolved",
      );
    }
  }
  return null;
};

function kind(tool: Tool): string {
  return tool.type ?? "custom";
}
