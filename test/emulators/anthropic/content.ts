import type { Block } from "./schema/blocks.ts";
import type { AnyRequest, Message } from "./schema/request.ts";
import type { Tool } from "./schema/tools.ts";

/** A block with its place: `messages.N.content.M`. */
export interface Placed {
  readonly block: Block;
  readonly message: number;
  readonly content: number;
  readonly role: Message["role"];
  readonly path: string;
}

/** The blocks of a message; a string is one text block. */
export function blocksOf(message: Message): readonly Block[] {
  if (message.content === undefined) return [];
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}

/** Every top-level block of the conversation, in order. */
export function* placedBlocks(messages: readonly Message[]): Generator<Placed> {
  for (const [message, entry] of messages.entries()) {
    for (const [content, block] of blocksOf(entry).entries()) {
      yield { block, message, content, role: entry.role, path: `messages.${message}.content.${content}` };
    }
  }
}

/** Whether a tool is withheld until something refers to it. */
export function isDeferred(tool: Tool): boolean {
  return "defer_loading" in tool && tool.defer_loading === true;
}

/** The name under which a tool is called, or `undefined` for a set of tools. */
export function toolName(tool: Tool): string | undefined {
  return "name" in tool && typeof tool.name === "string" ? tool.name : undefined;
}

/** The declared tools; none if the field is absent. */
export function toolsOf(body: Pick<AnyRequest, "tools">): readonly Tool[] {
  return body.tools ?? [];
}

/** Whether a tool is one of the two server-side searches. */
export function isSearchTool(tool: Tool): boolean {
  return tool.type?.startsWith("tool_search_tool_") === true;
}
