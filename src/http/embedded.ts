import type { SessionApi } from "../session/contract.ts";
import { decodeEntry } from "../values/entry.ts";
import { type PublicEntry, type PublicSession, publicEntry } from "./public-entry.ts";

/** Entries of one sub-session that are read along with those of the session above. */
const MOST = 200;

/**
 * Entries with those of the sub-sessions in them, and of theirs: a conversation is read as one. A sub-session that is
 * gone is only named.
 */
export function embedded(
  entries: readonly PublicEntry[],
  sessionOf: (session: PublicSession) => Pick<SessionApi, "entries">,
): Promise<PublicEntry[]> {
  return Promise.all(
    entries.map(async (entry) => {
      if (entry.kind !== "results" || entry.results.every(({ session }) => session === undefined)) return entry;
      const results = entry.results.map(async ({ session, ...result }) => {
        return session === undefined ? result : { ...result, session: await whole(session, sessionOf) };
      });
      return { ...entry, results: await Promise.all(results) };
    }),
  );
}

async function whole(
  session: PublicSession,
  sessionOf: (session: PublicSession) => Pick<SessionApi, "entries">,
): Promise<PublicSession> {
  const page = await sessionOf(session).entries(0, MOST);
  if (page === null) return session;
  const entries = page.entries.map(([seq, text]) => publicEntry({ seq, entry: decodeEntry(text) }));
  return {
    ...session,
    entries: await embedded(entries, sessionOf),
    ...(page.next === null ? {} : { next: page.next }),
  };
}
