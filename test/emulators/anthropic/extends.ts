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

/** The parts of a request that the next one has to keep. */
export interface Layout {
  readonly settings: readonly string[];
  readonly inline: readonly string[];
  readonly system: readonly string[];
  readonly deferred: readonly string[];
  readonly blocks: readonly string[];
}

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

/**
 * Where a request fails to extend an earlier one, or null if it does (design §1): settings, inline tools and system are
 * the same bytes; deferred definitions and message blocks begin with the earlier one's. Cache markers are left aside.
 */
export function layoutDifference(earlier: Layout, later: Layout): string | null {
  return (
    firstDifference("settings", earlier.settings, later.settings, true) ??
    firstDifference("inline tool", earlier.inline, later.inline, true) ??
    firstDifference("system block", earlier.system, later.system, true) ??
    firstDifference("deferred tool", earlier.deferred, later.deferred, false) ??
    firstDifference("message block", earlier.blocks, later.blocks, false)
  );
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

function firstDifference(what: string, a: readonly string[], b: readonly string[], whole: boolean): string | null {
  const index = a.findIndex((text, at) => text !== b[at]);
  if (index >= 0) return `${what} ${index}: ${clip(a[index])} became ${clip(b[index])}`;
  if (whole && a.length !== b.length) return `${what} ${a.length}: ${clip(b[a.length])} was added`;
  return null;
}

function clip(text: string | undefined): string {
  if (text === undefined) return "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
