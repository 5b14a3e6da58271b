import { blocksOf, isDeferred, toolName, toolsOf } from "./content.ts";
import { isShown, isThinking } from "./effective.ts";
import type { Model } from "./models.ts";
import { markers } from "./rules/markers.ts";
import { referencedNames } from "./rules/references.ts";
import type { Block } from "./schema/blocks.ts";
import type { AnyRequest } from "./schema/request.ts";
import { definitionSource, inlineDefinition, type RequestSource } from "./source.ts";

/** One position of the prompt that the provider renders: tools, then system, then messages. */
export interface RenderedBlock {
  readonly section: "tools" | "system" | "messages";
  readonly path: string;
  readonly bytes: string;
  /** An estimate: a quarter of the bytes. */
  readonly tokens: number;
  readonly thinking: boolean;
  /** The text of a system message that is shown for one turn only. */
  readonly turnScoped: boolean;
  /** The TTL of the breakpoint that stands on this block. */
  readonly breakpoint: "5m" | "1h" | null;
}

/**
 * Lays a request out as the provider does: deferred tools are left out, every reference is followed by the definition
 * it stands for, markers are taken off, blocks that the model is not shown are dropped.
 */
export function renderPrompt(
  body: AnyRequest,
  source: RequestSource,
  model: Model,
  droppedThinking: ReadonlySet<string> = new Set(),
): RenderedBlock[] {
  const ttls = breakpoints(body);
  const definitions = new Map<string, string>();
  const rendered: RenderedBlock[] = [];
  const push = (
    section: RenderedBlock["section"],
    path: string,
    bytes: string,
    more: { thinking?: boolean; turnScoped?: boolean } = {},
  ) => {
    const { thinking = false, turnScoped = false } = more;
    const tokens = Math.ceil(Buffer.byteLength(bytes) / 4);
    const breakpoint = thinking ? null : (ttls.get(path) ?? null);
    rendered.push({ section, path, bytes, tokens, thinking, turnScoped, breakpoint });
  };

  for (const [index, tool] of toolsOf(body).entries()) {
    const bytes = source.tools[index] ?? "";
    const name = toolName(tool);
    if (name !== undefined) definitions.set(name, definitionSource(bytes));
    if (!isDeferred(tool)) push("tools", `tools.${index}`, bytes);
  }
  for (const [index, bytes] of source.system.entries()) push("system", `system.${index}`, bytes);
  const shown = isShown(body, model);
  for (const [index, message] of body.messages.entries()) {
    for (const [position, block] of blocksOf(message).entries()) {
      const path = `messages.${index}.content.${position}`;
      const bytes = source.messages[index]?.[position] ?? "";
      define(block, bytes, definitions);
      if (!shown(index, position, block) || droppedThinking.has(path)) continue;
      const turnScoped = message.role === "system" && message.clear_at === "next_user_message";
      push("messages", path, `${message.role}\n${bytes}${expansion(block, definitions)}`, {
        thinking: isThinking(block),
        turnScoped,
      });
    }
  }
  return body.cache_control ? withAutomaticBreakpoint(rendered, body.cache_control.ttl ?? "5m") : rendered;
}

/** The marked places. A marker inside a block is a breakpoint after that block. */
function breakpoints(body: AnyRequest): ReadonlyMap<string, "5m" | "1h"> {
  const found = new Map<string, "5m" | "1h">();
  for (const { path, ttl } of markers(body)) {
    const [place] = /^(tools\.\d+|system\.\d+|messages\.\d+\.content\.\d+)/.exec(path) ?? [];
    if (place !== undefined) found.set(place, ttl);
  }
  return found;
}

function define(block: Block, bytes: string, definitions: Map<string, string>): void {
  if (block.type !== "tool_addition" || block.tool.type !== "tool_definition") return;
  const name = toolName(block.tool.definition);
  if (name !== undefined) definitions.set(name, definitionSource(inlineDefinition(bytes)));
}

function expansion(block: Block, definitions: ReadonlyMap<string, string>): string {
  const added = block.type === "tool_addition" && block.tool.type === "tool_reference" ? [block.tool.name] : [];
  return [...referencedNames(block), ...added].map((name) => `\n${name}\n${definitions.get(name) ?? ""}`).join("");
}

/** The top-level `cache_control`: one breakpoint on the last block that can carry one. */
function withAutomaticBreakpoint(rendered: readonly RenderedBlock[], ttl: "5m" | "1h"): RenderedBlock[] {
  const last = rendered.findLastIndex((block) => !block.thinking);
  return rendered.map((block, index) =>
    index === last && block.breakpoint === null ? { ...block, breakpoint: ttl } : block,
  );
}
