import { blocksOf } from "../content.ts";
import { type Failure, invalid } from "../failure.ts";
import type { Block } from "../schema/blocks.ts";
import type { Message } from "../schema/request.ts";
import { isServerSide } from "./conversation.ts";
import type { Rule } from "./rule.ts";

const DIRECTIVE = "the directive-only form (content: [] with output_config) is accepted at any position";
const KINDS = new Set<Block["type"]>(["text", "tool_addition", "tool_removal"]);

/** E-A29: which models take messages of role `system`, where they may stand and what they may hold. */
export const systemMessages: Rule = ({ body, model }) => {
  for (const [index, message] of body.messages.entries()) {
    if (message.role !== "system") continue;
    if (!model.systemRole) return invalid("E-A29", "role 'system' is not supported on this model");
    const failure = content(message, index) ?? place(body.messages, index);
    if (failure !== null) return failure;
  }
  return null;
};

function content(message: Extract<Message, { role: "system" }>, index: number): Failure | null {
  const blocks = blocksOf(message);
  if (blocks.length === 0 && !message.output_config) {
    return invalid("E-A29", `messages.${index}: system content must contain at least one block`);
  }
  if (blocks.some((block) => !KINDS.has(block.type))) {
    return invalid(
      "E-A29",
      `messages.${index}: role 'system' supports text, tool_addition, and tool_removal blocks only`,
    );
  }
  if (message.clear_at === "next_user_message" && blocks.some((block) => block.type !== "text")) {
    return invalid(
      "E-A29",
      `messages.${index}: a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')`,
    );
  }
  return null;
}

/** Consecutive system messages count as one section. */
function place(messages: readonly Message[], index: number): Failure | null {
  const message = messages[index];
  if (message !== undefined && blocksOf(message).length === 0) return null;
  const before = messages.slice(0, index).findLast((candidate) => candidate.role !== "system");
  const after = messages.slice(index + 1).find((candidate) => candidate.role !== "system");
  if (before === undefined) {
    return invalid(
      "E-A29",
      `messages.${index}: use the top-level 'system' parameter for the initial system prompt; ${DIRECTIVE}`,
    );
  }
  const end = blocksOf(before).at(-1)?.type;
  const paused = end === "server_tool_use";
  if (before.role === "assistant" && (end === undefined || paused || !isServerSide(end))) {
    return invalid(
      "E-A29",
      `messages.${index}: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result; ${DIRECTIVE}`,
    );
  }
  if (after !== undefined && after.role !== "assistant") {
    return invalid(
      "E-A29",
      `messages.${index}: role 'system' must precede an 'assistant' message or end the array; ${DIRECTIVE}`,
    );
  }
  return null;
}
