import type { Quotas } from "../define/quotas.ts";
import type { SessionId } from "./contract.ts";
import { sessionName } from "./name.ts";
import type { SessionRow } from "./store.ts";
import { dayOf } from "./usage.ts";

/** A turn that is to begin. Times in milliseconds since the epoch. */
export interface Entrant {
  readonly id: SessionId;
  readonly turn: string;
  readonly now: number;
  /** When it counts as ended if nothing was heard of its end. */
  readonly until: number;
}

/** What an owner uses at the moment. */
export interface Used {
  /** Other sessions with a turn that was let in. A session's own turns don't count: it runs one at a time. */
  readonly turns: number;
  readonly sessions: number;
  readonly bytes: number;
  readonly tokens: number;
  /** Whether the session is there already. */
  readonly known: boolean;
}

const OTHERS = `SELECT count(DISTINCT session) FROM admissions WHERE owner = ?1 AND until > ?3 AND session <> ?2`;
const SUM = (column: string) => `coalesce((SELECT ${column} FROM owners WHERE owner = ?1), 0)`;
const TOKENS = "coalesce((SELECT input + cache_write + output FROM usage WHERE owner = ?1 AND day = ?4), 0)";
const KNOWN = "EXISTS (SELECT 1 FROM sessions WHERE id = ?2)";

/**
 * Lets a turn in if its owner is within its quotas, and notes it, as one statement, so that of turns that come at once
 * no more get in than may. Answers the quota that is used up, or null for one that was let in. Throws when D1 does.
 */
export async function admit(db: D1Database, quotas: Quotas, entrant: Entrant): Promise<keyof Quotas | null> {
  const { id, turn, now, until } = entrant;
  const insert = `INSERT INTO admissions (owner, session, turn, until) SELECT ?1, ?2, ?5, ?6
    WHERE (${OTHERS}) < ?7 AND (${SUM("sessions")} < ?8 OR ${KNOWN}) AND ${SUM("bytes")} < ?9 AND ${TOKENS} < ?10`;
  const limits = [quotas.turns, quotas.sessions, quotas.bytes, quotas.tokensPerDay].map(most);
  const { meta } = await db
    .prepare(insert)
    .bind(id.owner, sessionName(id), now, dayOf(now), turn, until, ...limits)
    .run();
  // A turn may have ended since: it is free to try again at once.
  return meta.changes > 0 ? null : (exceeded(await used(db, id, now), quotas) ?? "turns");
}

/** The quota that is used up, of several the one that takes longest to free; null where none is. */
export function exceeded({ turns, sessions, bytes, tokens, known }: Used, quotas: Quotas): keyof Quotas | null {
  if (bytes >= most(quotas.bytes)) return "bytes";
  if (!known && sessions >= most(quotas.sessions)) return "sessions";
  if (tokens >= most(quotas.tokensPerDay)) return "tokensPerDay";
  return turns >= most(quotas.turns) ? "turns" : null;
}

/** What the owner of that session uses, as far as D1 knows: it lags by the turns that run. */
export async function used(db: D1Database, id: SessionId, now: number): Promise<Used> {
  const query = `SELECT (${OTHERS}) AS turns, ${SUM("sessions")} AS sessions, ${SUM("bytes")} AS bytes,
    ${TOKENS} AS tokens, ${KNOWN} AS known`;
  const bound = db.prepare(query).bind(id.owner, sessionName(id), now, dayOf(now));
  const row = await bound.first<Omit<Used, "known"> & { readonly known: number }>();
  if (row === null) throw new Error("a row of figures has no row");
  return { ...row, known: row.known !== 0 };
}

/** Turns of an owner that are over, and those of which nothing was heard in time. */
export function release(db: D1Database, owner: string, turns: readonly string[], now: number): D1PreparedStatement {
  const remove = `DELETE FROM admissions
    WHERE owner = ?1 AND (turn IN (SELECT value FROM json_each(?2)) OR until <= ?3)`;
  return db.prepare(remove).bind(owner, JSON.stringify(turns), now);
}

/** The same for a session none of whose turns runs; no statement where none was let in under quotas. */
export function releaseOf(db: D1Database, row: SessionRow): D1PreparedStatement[] {
  const turns = admittedTurns(row);
  return turns.length === 0 ? [] : [release(db, row.owner, turns, row.updated_at)];
}

/** Turns that a session remembers; of older ones D1 learns by their time. */
const REMEMBERED = 100;

/** What a session's row remembers when a turn begins. */
export function admittedWith(row: Pick<SessionRow, "admitted"> | null, turn: string): string {
  return JSON.stringify([...(row === null ? [] : admittedTurns(row)), turn].slice(-REMEMBERED));
}

/** The turns of a session that were let in and whose end D1 does not know yet. */
export function admittedTurns({ admitted }: Pick<SessionRow, "admitted">): string[] {
  const turns: string[] = JSON.parse(admitted);
  return turns;
}

function most(quota: number | false): number {
  return quota === false ? Number.MAX_SAFE_INTEGER : quota;
}
