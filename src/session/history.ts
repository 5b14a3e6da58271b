import { cutSpans, type Span, spansBetween } from "../context/cuts.ts";
import { uncompacted } from "../context/effective.ts";
import { decodeEntry, type Entry, encodeEntry, type Numbered } from "../values/entry.ts";
import type { EntryRow } from "./contract.ts";
import type { SessionRow, Store } from "./store.ts";

/** The entries of a session that may be effective, each read once. */
export class History {
  readonly #all: Numbered[] = [];
  readonly #texts = new Map<Entry, string>();

  /** Reads all but what `cuts` names. */
  static read(store: Store, { cuts, last_seq }: Pick<SessionRow, "cuts" | "last_seq">): History {
    const history = new History();
    for (const [first, last] of spansBetween(parseCuts(cuts), last_seq)) history.add(store.entries(first - 1, last));
    return history;
  }

  /** Adds entries that follow. */
  add(rows: Iterable<EntryRow>): this {
    for (const [seq, text] of rows) {
      const entry = decodeEntry(text);
      this.#texts.set(entry, text);
      this.#all.push({ seq, entry });
    }
    return this;
  }

  get all(): readonly Numbered[] {
    return this.#all;
  }

  /** The text an entry is stored as, or is to be sent as where repair made it. */
  textOf({ entry }: Numbered): string {
    return this.#texts.get(entry) ?? encodeEntry(entry);
  }
}

/** Rows of entries whose first has the number `first`. */
export function rowsFrom(first: number, texts: readonly string[]): EntryRow[] {
  return texts.map((text, index) => [first + index, text]);
}

/** The session's cuts once `history`, which ends with entry `lastSeq`, is all that may be effective; null if it has no new one. */
export function newCuts({ all }: History, lastSeq: number): string | null {
  if (!all.some(({ entry }) => entry.kind === "rewind")) return null;
  return JSON.stringify(cutSpans(uncompacted(all), lastSeq));
}

function parseCuts(text: string): Span[] {
  const value: Span[] = JSON.parse(text);
  return value;
}
