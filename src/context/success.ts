import type { Numbered } from "../values/entry.ts";

/** A call of ours that succeeded, and the entry its result is in. */
export interface Success {
  readonly call: string;
  readonly seq: number;
}

/** The last call of an entry that succeeded; null where none did. Only such a call can be a load point (design §3.1). */
export function successIn({ seq, entry }: Numbered): Success | null {
  if (entry.origin !== "runtime") return null;
  if (entry.kind === "host_search") return { call: entry.call, seq };
  if (entry.kind !== "results") return null;
  const success = entry.results.findLast(({ status }) => status === "ok");
  return success === undefined ? null : { call: success.call, seq };
}

/** The last call of a context that succeeded. */
export function lastSuccess(effective: readonly Numbered[]): Success | null {
  for (const numbered of effective.toReversed()) {
    const success = successIn(numbered);
    if (success !== null) return success;
  }
  return null;
}
