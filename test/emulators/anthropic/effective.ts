import { blocksOf, placedBlocks } from "./content.ts";
import type { Model } from "./models.ts";
import type { Block } from "./schema/blocks.ts";
import type { AnyRequest, Message } from "./schema/request.ts";

/** Whether a block holds the model's thinking. */
export function isThinking(block: Block): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

/**
 * Which blocks the model is shown. Not shown: everything before the last compaction that succeeded; a turn-scoped
 * system message once a later user message exists; on older models, thinking from before the newest user turn.
 */
export function isShown(body: AnyRequest, model: Model): (message: number, position: number, block: Block) => boolean {
  const compaction = lastCompaction(body.messages);
  const lastUser = body.messages.findLastIndex((message) => message.role === "user");
  const newestTurn = body.messages.findLastIndex(
    (message) => message.role === "user" && blocksOf(message).some((block) => block.type !== "tool_result"),
  );
  return (index, position, block) => {
    if (index < compaction.message || (index === compaction.message && position < compaction.content)) return false;
    const message = body.messages[index];
    if (message?.role === "system" && message.clear_at === "next_user_message" && index < lastUser) return false;
    return model.keepsThinking || !isThinking(block) || index > newestTurn;
  };
}

/** Where the last compaction with a summary stands; before everything if there is none. */
export function lastCompaction(messages: readonly Message[]): { readonly message: number; readonly content: number } {
  let last = { message: -1, content: -1 };
  for (const { block, message, content } of placedBlocks(messages)) {
    if (block.type === "compaction" && block.content) last = { message, content };
  }
  return last;
}
