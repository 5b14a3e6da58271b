import type { Numbered, Place } from "../values/entry.ts";

/**
 * Where a host search goes so that it changes no sent byte (design §3.2): as the last call of the newest assistant
 * entry if that was not sent; else before the first unsent user entry; else at the end. It is never the first message.
 *
 * `unsent` are the entries in effective order that no request carried; `lastSeq` is the newest effective entry.
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

/** Puts a host search where its place says, among entries in effective order. */
export function insertAtPlace(entries: readonly Numbered[], search: Numbered, place: Place): Numbered[] {
  const anchor = entries.findIndex(({ seq }) => seq === place.seq);
  if (anchor < 0) return [...entries, search];
  if (place.at === "before") return [...entries.slice(0, anchor), search, ...entries.slice(anchor)];
  let index = anchor + 1;
  while (belongs(entries[index], place.seq)) index += 1;
  return [...entries.slice(0, index), search, ...entries.slice(index)];
}

/** Results of the entry, and host searches that stand right after it already. */
function belongs(next: Numbered | undefined, seq: number): boolean {
  if (next === undefined) return false;
  if (next.entry.kind === "results") return next.entry.of === seq;
  return next.entry.kind === "host_search" && next.entry.place.seq === seq && next.entry.place.at !== "before";
}
