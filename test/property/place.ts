import { userMessages } from "../../src/context/branch.ts";
import { toldEntries } from "../../src/context/effective.ts";
import { SessionClient } from "../../src/session/client.ts";
import type { SessionApi, SessionId } from "../../src/session/contract.ts";
import type { SessionHost } from "../../src/session/host.ts";
import { sessionName } from "../../src/session/name.ts";
import { Session } from "../../src/session/session.ts";
import { nodeStorage } from "../../src/testing/node-storage.ts";
import { decodeEntry, type Status } from "../../src/values/entry.ts";
import type { Checker } from "./checker.ts";

/** A session, and what its client and the checks know of it. */
export interface Place {
  readonly id: SessionId;
  readonly session: SessionApi;
  readonly checker: Checker;
  /** Texts of results that every request must carry. */
  readonly expected: Set<string>;
  /** Names that something loaded. */
  readonly loaded: Set<string>;
  /** The session that this one is a copy of, or whose turn hands it its task; null where there is none. */
  readonly of: Place | null;
  readonly parent: Place | null;
  /** Its next request records a baseline. */
  fresh: boolean;
  lastText: string;
  /** How often its newest turn was begun, or taken up after a death. */
  attempts: number;
  /** Results that were there of the batch of that answer, when the turn was handed over. */
  kept: { readonly seq: number; readonly ran: ReadonlyMap<string, Status>; readonly said: readonly string[] } | null;
  /** What is asked of its object's alarm. */
  alarm(): Promise<void>;
  /** Its object is made anew over what is stored. */
  forget(): void;
}

/** What a session asks of the worker that it is part of. */
export type PlaceHost = Pick<SessionHost, "now" | "waitUntil" | "run" | "removeOther" | "stopOther">;

/** A session that is empty; `of` is what it will be a copy of, `parent` whose task it works on. */
export function newPlace(
  host: PlaceHost,
  id: SessionId,
  checker: Checker,
  { of = null, parent = null }: Partial<Pick<Place, "of" | "parent">> = {},
): Place {
  const name = sessionName(id);
  const whole = { ...host, storage: nodeStorage(), db: null, name, setAlarm: async () => {} };
  let object = new Session(whole);
  return {
    id,
    session: new SessionClient({ getByName: () => object }, name),
    checker,
    expected: new Set<string>(),
    loaded: new Set(of?.loaded),
    of,
    parent,
    fresh: of === null,
    lastText: of?.lastText ?? "",
    attempts: 0,
    kept: null,
    alarm: () => object.alarm(),
    forget() {
      object = new Session(whole);
    },
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

/** Whether a turn runs in the session, as far as it knows. */
export async function isRunning({ session }: Place): Promise<boolean> {
  return (await session.summary())?.running === true;
}
