import type { Model } from "./models.ts";
import type { RenderedBlock } from "./render.ts";

/** What is kept of an answered request, to tell later where the next one departs from it. */
export interface Fingerprint {
  readonly model: string;
  readonly sections: readonly RenderedBlock["section"][];
  readonly tokens: readonly number[];
  readonly chain: readonly string[];
}

export type CacheMissReason =
  | {
      readonly type: "model_changed" | "tools_changed" | "system_changed" | "messages_changed";
      readonly cache_missed_input_tokens: number;
    }
  | { readonly type: "previous_message_not_found" };

/** The fingerprint of a rendered request. `chain` is its `cacheChain`. */
export function fingerprint(model: Model, rendered: readonly RenderedBlock[], chain: readonly string[]): Fingerprint {
  return {
    model: model.id,
    sections: rendered.map((block) => block.section),
    tokens: rendered.map((block) => block.tokens),
    chain,
  };
}

/** Why a request cannot reuse all of the prompt of the one before, or `null` if it extends it. */
export function cacheMissReason(before: Fingerprint | undefined, now: Fingerprint): CacheMissReason | null {
  if (before === undefined) return { type: "previous_message_not_found" };
  const shared = before.chain.findIndex((hash, index) => now.chain[index] !== hash);
  if (shared === -1) return null;
  const missed = before.tokens.slice(shared).reduce((sum, tokens) => sum + tokens, 0);
  const type = before.model === now.model ? changed(before, now, shared) : "model_changed";
  return { type, cache_missed_input_tokens: missed };
}

function changed(before: Fingerprint, now: Fingerprint, at: number) {
  const sections = [before.sections[at], now.sections[at]];
  if (sections.includes("tools")) return "tools_changed";
  return sections.includes("system") ? "system_changed" : "messages_changed";
}
