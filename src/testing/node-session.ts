import type { SessionHost } from "../session/host.ts";
import { Session } from "../session/session.ts";
import { nodeStorage } from "./node-storage.ts";

/** A session in this process, over Node's SQLite: without a record in D1, and without an alarm that would ring. */
export function nodeSession({
  now,
  waitUntil = () => {},
}: Pick<SessionHost, "now"> & Partial<Pick<SessionHost, "waitUntil">>): Session {
  return new Session({
    storage: nodeStorage(),
    db: null,
    name: undefined,
    waitUntil,
    setAlarm: async () => {},

    now,
  });
}
