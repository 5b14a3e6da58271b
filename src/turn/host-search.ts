import type { Numbered, Place } from "../values/entry.ts";

/**
 * Where a host search goes so that it changes no sent byte (design §3.2): as the last call of the newest assistant
 * entry if that was not sent; else before the first unsent user entry; else at the end. It is never the first message.
 *
 * `unsent` are the entries in effective order that no request carried, `newest` is the newest effective entry, `first` the
 * very first one where no request carried it.
 */
export function placeHostSearch(input: {
  readonly newestAssistant: number | null;
  readonly sentThrough: number;
  readonly unsent: readonly Numbered[];
  readonly newest: number;
  readonly first: number | null;
}): Place {
  const { newestAssistant, sentThrough, unsent } = input;
  if (newestAssistant !== null && newestAssistant > sentThrough) return { at: "attach", seq: newestAssistant };
  const user = unsent.find(({ seq, entry }) => entry.kind === "user" && seq > sentThrough);
  if (user !== undefined && user.seq !== input.first) return { at: "before", seq: user.seq };
  return { at: "after", seq: input.newest };
}
