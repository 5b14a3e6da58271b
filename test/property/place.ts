import { userMessages } from "../../src/context/branch.ts";
import { toldEntries } from "../../src/context/effective.ts";
import { SessionClient } from "../../src/session/client.ts";
import type { SessionApi } from "../../src/session/contract.ts";
import { nodeSession } from "../../src/testing/node-session.ts";
import { decodeEntry } from "../../src/values/entry.ts";
import type { Checker } from "./checker.ts";

/** A session, and what its client and the checks know of it. */
export interface Place {
  readonly session: SessionApi;
  readonly checker: Checker;
  /** Texts of results that every request must carry. */
  readonly expected: Set<string>;
  /** Names that something loaded. */
  readonly loaded: Set<string>;
  /** Its next request records a baseline. */
  fresh: boolean;
  lastText: string;
}

/** A session that is empty; `of` is what it will be a copy of. */
export function newPlace(now: () => number, checker: Checker, of?: Place): Place {
  const session = nodeSession({ now });
  return {
    session: new SessionClient({ getByName: () => session }, "ring"),
    checker,
    expected: new Set<string>(),
    loaded: new Set(of?.loaded),
    fresh: of === undefined,
    lastText: of?.lastText ?? "",
  };
}

/** Everything that the session stored. */
export async function entriesOf({ session }: Place) {
  const all = await session.entries(0, 100_000);
  return (all?.entries ?? []).map(([seq, text]) => ({ seq, entry: decodeEntry(text) }));
}

/** How many user messages the session tells. */
export async function messagesOf(place: Place): Promise<number> {
  return userMessages(toldEntries(await entriesOf(place))).length;
}
