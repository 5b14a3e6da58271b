import { member, members, skipSpace } from "../common/raw-json.ts";
import { sourceOf } from "./source.ts";

/** Fields that may differ between two requests of one epoch: they are no part of what is cached. */
const PER_REQUEST = new Set([
  "tools",
  "system",
  "messages",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "stream",
  "diagnostics",
  "metadata",
]);

/**
 * Where a request fails to extend an earlier one, or null if it does (design §1): settings, inline tools and system are
 * the same bytes; deferred definitions and message blocks begin with the earlier one's. Cache markers are left aside.
 */
export function whyNotExtends(earlier: string, later: string): string | null {
  const a = parts(earlier);
  const b = parts(later);
  return (
    firstDifference("settings", a.settings, b.settings, true) ??
    firstDifference("inline tool", a.inline, b.inline, true) ??
    firstDifference("system block", a.system, b.system, true) ??
    firstDifference("deferred tool", a.deferred, b.deferred, false) ??
    firstDifference("message block", a.blocks, b.blocks, false)
  );
}

function parts(body: string) {
  const source = sourceOf(body);
  const start = skipSpace(body, 0);
  const roles = JSON.parse(body).messages.map((message: { role: string }) => message.role);
  const isDeferred = (tool: string) => member(tool, skipSpace(tool, 0), "defer_loading") !== undefined;
  return {
    settings: members(body, start).flatMap(({ key, value }) =>
      PER_REQUEST.has(key) ? [] : [`${key}=${body.slice(value.start, value.end)}`],
    ),
    inline: source.tools.filter((tool) => !isDeferred(tool)),
    system: source.system,
    deferred: source.tools.filter(isDeferred),
    blocks: source.messages.flatMap((blocks, index) => blocks.map((block) => `${roles[index]} ${block}`)),
  };
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
