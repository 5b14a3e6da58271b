import { hash } from "node:crypto";
import { placedBlocks, toolsOf } from "./content.ts";
import type { Model } from "./models.ts";
import type { RenderedBlock } from "./render.ts";
import type { AnyRequest } from "./schema/request.ts";

/**
 * The running hash of a prompt at every position. Besides the bytes it covers what the cache is separate for: the model
 * for all, web search, citations, speed and output format for system and messages, tool choice, thinking, effort and
 * the presence of images for messages.
 */
export function cacheChain(body: AnyRequest, model: Model, rendered: readonly RenderedBlock[]): string[] {
  const scopes = { tools: model.id, system: systemScope(body), messages: messageScope(body) };
  const order = ["tools", "system", "messages"] as const;
  let running = digest("", scopes.tools);
  let section = 0;
  return rendered.map((block) => {
    while (order[section] !== block.section && section < order.length - 1) {
      section += 1;
      running = digest(running, scopes[order[section] ?? "messages"]);
    }
    running = digest(running, block.bytes);
    return running;
  });
}

/**
 * The hash of what stands before each position, and at last of the whole: what signed thinking is bound to. Thinking
 * itself, turn-scoped system messages, effort and markers are no part of it, since they may change.
 */
export function bindingChain(rendered: readonly RenderedBlock[]): string[] {
  let running = digest("", "binding");
  const before = rendered.map((block) => {
    const here = running;
    if (!block.thinking && !block.turnScoped) running = digest(running, `${block.section}\n${block.bytes}`);
    return here;
  });
  return [...before, running];
}

function digest(before: string, text: string): string {
  return hash("sha256", `${before}\n${text}`, "base64url").slice(0, 24);
}

function systemScope(body: AnyRequest): string {
  const types = toolsOf(body).map((tool) => tool.type ?? "custom");
  const citations = [...placedBlocks(body.messages)].some(
    ({ block }) => (block.type === "document" || block.type === "search_result") && block.citations?.enabled === true,
  );
  return JSON.stringify([
    types.some((type) => type.startsWith("web_search")),
    citations,
    body.speed ?? "standard",
    body.output_config?.format ?? body.output_format ?? null,
  ]);
}

function messageScope(body: AnyRequest): string {
  const images = [...placedBlocks(body.messages)].some(
    ({ block }) =>
      block.type === "image" ||
      (block.type === "tool_result" &&
        Array.isArray(block.content) &&
        block.content.some((part) => part.type === "image")),
  );
  const { block_binding: _, ...thinking } = { block_binding: null, ...body.thinking };
  return JSON.stringify([body.tool_choice ?? { type: "auto" }, thinking, body.output_config?.effort ?? null, images]);
}
