import { blocksOf, placedBlocks } from "../content.ts";
import { invalid } from "../failure.ts";
import type { Block } from "../schema/blocks.ts";
import type { Rule } from "./rule.ts";

/** The most messages of one request (vendor documentation; the text is not known). */
export const MAX_MESSAGES = 100_000;

/** E-A15: there is something to answer. The vendor's text for too many messages is not known. */
export const hasMessages: Rule = ({ body }) => {
  if (body.messages.length === 0) return invalid("E-A15", "messages: at least one message is required");
  if (body.messages.length > MAX_MESSAGES) {
    return invalid("E-A15", `messages: at most ${MAX_MESSAGES} messages are allowed`);
  }
  const empty = body.messages.findIndex((message, index) => {
    if (message.role === "system") return false;
    const optional = message.role === "assistant" && index === body.messages.length - 1;
    return !optional && isEmpty(blocksOf(message));
  });
  if (empty === -1) return null;
  return invalid(
    "E-A15",
    `messages.${empty}: all messages must have non-empty content except for the optional final assistant message`,
  );
};

function isEmpty(blocks: readonly Block[]): boolean {
  return blocks.length === 0;
}

/** E-A16: newer models refuse to continue a given answer. A turn that the server paused may be sent back. */
export const noPrefill: Rule = ({ body, model }) => {
  const last = body.messages.at(-1);
  if (model.prefill || last?.role !== "assistant") return null;
  const end = blocksOf(last).at(-1)?.type;
  if (end !== undefined && isServerSide(end)) return null;
  return invalid(
    "E-A16",
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  );
};

/** Whether a block of this type is made on the server: its tools' calls and their results. */
export function isServerSide(type: Block["type"]): boolean {
  return (
    type === "server_tool_use" || type === "mcp_tool_use" || (type !== "tool_result" && type.endsWith("_tool_result"))
  );
}

/** E-A18: every text says something. */
export const textsSaySomething: Rule = ({ body }) => {
  for (const block of Array.isArray(body.system) ? body.system : []) {
    const failure = checkText("system", block.text);
    if (failure !== null) return failure;
  }
  for (const { block } of placedBlocks(body.messages)) {
    const texts =
      block.type === "tool_result" && Array.isArray(block.content)
        ? block.content.filter((part) => part.type === "text")
        : [];
    // Tool output may be white space; only what is empty is refused there.
    if (texts.some((part) => part.text === "")) return checkText("messages", "");
    if (block.type !== "text") continue;
    const failure = checkText("messages", block.text);
    if (failure !== null) return failure;
  }
  return null;
};

function checkText(where: "system" | "messages", text: string) {
  if (text === "") return invalid("E-A18", `${where}: text content blocks must be non-empty`);
  if (text.trim() === "") return invalid("E-A18", `${where}: text content blocks must contain non-whitespace text`);
  return null;
}

const ASSISTANT_ONLY = new Set<Block["type"]>(["tool_use", "thinking", "redacted_thinking", "compaction"]);

/** Which role may hold which block. The vendor's texts are not known. */
export const blocksFitTheirRole: Rule = ({ body }) => {
  for (const { block, path, role } of placedBlocks(body.messages)) {
    if (role === "system") continue;
    const changes = block.type === "tool_addition" || block.type === "tool_removal";
    if (changes) return invalid("E-A29", `${path}: \`${block.type}\` blocks can only be in \`system\` messages`);
    if (role === "assistant" && block.type === "tool_result") {
      return invalid("E-A20", `${path}: \`tool_result\` blocks can only be in \`user\` messages`);
    }
    if (role === "user" && (ASSISTANT_ONLY.has(block.type) || isServerSide(block.type))) {
      return invalid("E-A20", `${path}: \`${block.type}\` blocks can only be in \`assistant\` messages`);
    }
  }
  return null;
};
