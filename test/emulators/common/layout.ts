/** The parts of a request that the next one has to keep, each as the client spelled it. */
export interface Layout {
  readonly settings: readonly string[];
  readonly inline: readonly string[];
  readonly system: readonly string[];
  readonly deferred: readonly string[];
  readonly blocks: readonly string[];
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
