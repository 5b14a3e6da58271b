import { bindingChain } from "../chain.ts";
import { type Placed, placedBlocks } from "../content.ts";
import { lastCompaction } from "../effective.ts";
import { type Failure, invalid } from "../failure.ts";
import type { RenderedBlock } from "../render.ts";
import type { AnyRequest } from "../schema/request.ts";
import { readSignature } from "../signatures.ts";
import type { RuleInput } from "./rule.ts";

export type ThinkingVerdict =
  | { readonly kind: "refused"; readonly failure: Failure }
  /** The places of the blocks that the API leaves out; mostly none. */
  | { readonly kind: "accepted"; readonly dropped: readonly string[] };

export interface ThinkingSettings {
  /** `own`: only signatures of this emulator are good. `any`: those made elsewhere are believed. */
  readonly signatures: "own" | "any";
}

/** E-A32: thinking comes back as it was given and, on models that bind it, behind the same prompt. */
export function checkThinking(
  { body, model }: RuleInput,
  rendered: readonly RenderedBlock[],
  { signatures }: ThinkingSettings,
): ThinkingVerdict {
  const first = firstOfLastAssistantTurn(body);
  const bindings = model.prefixBound && !isEdited(body) ? bindingChain(rendered) : null;
  const blocks = [...placedBlocks(body.messages)].filter(({ block }) => block.type === "thinking");
  for (const [index, placed] of blocks.entries()) {
    if (placed.block.type !== "thinking") continue;
    const reading = readSignature(placed.block.signature, placed.block.thinking);
    if (reading.kind === "foreign" && signatures === "any") continue;
    if (reading.kind !== "valid") return refused(altered(placed, placed.message >= first));
    if (bindings === null || isBoundHere(reading.prefix, placed, rendered, bindings)) continue;
    if (dropsBlocks(body)) return { kind: "accepted", dropped: blocks.slice(index).map(({ path }) => path) };
    return refused(boundElsewhere(placed));
  }
  return { kind: "accepted", dropped: [] };
}

function refused(failure: Failure): ThinkingVerdict {
  return { kind: "refused", failure };
}

function firstOfLastAssistantTurn({ messages }: AnyRequest): number {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  const before = messages.slice(0, Math.max(last, 0)).findLastIndex((message) => message.role !== "assistant");
  return before + 1;
}

/** After compaction or context editing by the server, thinking stays valid behind a prompt that has changed. */
function isEdited(body: AnyRequest): boolean {
  return lastCompaction(body.messages).message !== -1 || (body.context_management?.edits ?? []).length > 0;
}

/** A block may have been given anywhere in its message, if the turn was paused and continued. */
function isBoundHere(
  prefix: string,
  placed: Placed,
  rendered: readonly RenderedBlock[],
  bindings: readonly string[],
): boolean {
  const here = rendered.findIndex((block) => block.path === placed.path);
  for (let at = here; at >= 0 && rendered[at]?.path.startsWith(`messages.${placed.message}.`); at -= 1) {
    if (bindings[at] === prefix) return true;
  }
  return here === -1;
}

function dropsBlocks({ thinking }: AnyRequest): boolean {
  if (thinking === undefined || !("block_binding" in thinking)) return false;
  return thinking.block_binding?.prefix_mismatch_behavior === "drop_block";
}

function altered({ path }: Placed, inLastTurn: boolean): Failure {
  if (!inLastTurn) return invalid("E-A32", `${path}: Invalid \`signature\` in \`thinking\` block`);
  return invalid(
    "E-A32",
    `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
  );
}

function boundElsewhere({ path }: Placed): Failure {
  return invalid(
    "E-A32",
    `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block". That setting requires the \`thinking-binding-controls-2026-08-01\` value in the \`anthropic-beta\` header.`,
  );
}
