import { isDeferred, placedBlocks, toolName, toolsOf } from "./content.ts";
import { referencedNames } from "./rules/references.ts";
import type { ToolChange } from "./schema/blocks.ts";
import type { AnyRequest } from "./schema/request.ts";

/**
 * The names of the tools that the model can call at the end of a request: those that are not deferred, plus what
 * references and additions brought, minus removals. A compaction starts again from what is not deferred and its own
 * `tool_changes`.
 */
export function visibleTools(body: Pick<AnyRequest, "tools" | "messages">): string[] {
  const initial = toolsOf(body).flatMap((tool) => (isDeferred(tool) ? [] : (toolName(tool) ?? [])));
  let visible = new Set(initial);
  for (const { block } of placedBlocks(body.messages)) {
    for (const name of referencedNames(block)) visible.add(name);
    if (block.type === "compaction" && block.content) {
      visible = new Set(initial);
      for (const change of block.tool_changes ?? []) apply(change, visible);
    }
    if (block.type === "tool_addition" || block.type === "tool_removal") apply(block, visible);
  }
  return [...visible];
}

function apply(change: ToolChange, visible: Set<string>): void {
  const name = changedName(change);
  if (name === undefined) return;
  if (change.type === "tool_addition") visible.add(name);
  else visible.delete(name);
}

function changedName({ tool }: ToolChange): string | undefined {
  if (tool.type === "tool_definition") return toolName(tool.definition);
  return tool.type === "tool_reference" ? tool.name : undefined;
}
