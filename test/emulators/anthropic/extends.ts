import { type Layout, layoutDifference } from "../common/layout.ts";
import { type RequestSource, sourceOf } from "./source.ts";

/** Fields that may differ between two requests of one epoch: they are no part of what is cached. */
const PER_REQUEST = new Set([
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "stream",
  "diagnostics",
  "metadata",
]);

/** Lays out a request from its source and the roles of its messages. */
export function layoutOf(source: RequestSource, roles: readonly string[]): Layout {
  const isDeferred = (tool: string) => /"defer_loading": *true/.test(tool);
  return {
    settings: [...source.fields].flatMap(([key, text]) => (PER_REQUEST.has(key) ? [] : [`${key}=${text}`])),
    inline: source.tools.filter((tool) => !isDeferred(tool)),
    system: source.system,
    deferred: source.tools.filter(isDeferred),
    blocks: source.messages.flatMap((blocks, index) => blocks.map((block) => `${roles[index]} ${block}`)),
  };
}

/** {@link layoutDifference} of two request bodies. */
export function whyNotExtends(earlier: string, later: string): string | null {
  return layoutDifference(bodyLayout(earlier), bodyLayout(later));
}

/** Lays out a request from its body's text. */
export function bodyLayout(body: string): Layout {
  const { messages }: { messages: readonly { readonly role: string }[] } = JSON.parse(body);
  return layoutOf(
    sourceOf(body),
    messages.map(({ role }) => role),
  );
}
