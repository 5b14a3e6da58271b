import { NO_USAGE, type UsageSum } from "../values/usage.ts";
import type { CallRecord } from "./contract.ts";
import { sessionName } from "./name.ts";
import type { SessionRow } from "./store.ts";

/** The UTC day of a moment (milliseconds since the epoch), as `2026-11-30`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/**
 * What an owner's model calls of one day came to, all agents and sessions together, deleted ones included. One row of
 * D1, found by its key. It lags by the turns that run: a session adds to it with its flush.
 */
export async function ownerUsage(db: D1Database, owner: string, day: string): Promise<UsageSum> {
  const query = `SELECT input, cache_read AS cacheRead, cache_write AS cacheWrite, output, calls
    FROM usage WHERE owner = ? AND day = ?`;
  return (await db.prepare(query).bind(owner, day).first<UsageSum>()) ?? { ...NO_USAGE, calls: 0 };
}

/** A model call that D1 may not have counted yet, with the revision that stored it. */
export interface Uncounted {
  readonly rev: number;
  readonly call: Pick<CallRecord, "at" | "usage" | "copied">;
}

/** A call takes some 80 bytes of a statement, which may have 1 MB. */
const CALLS_A_STATEMENT = 10_000;

/**
 * Adds calls to their owner's days. It must stand in one batch with, and before, the statement that raises the record's
 * revision: calls up to that revision are counted already, so a repeat adds nothing. No statement where there is nothing
 * to add.
 */
export function countUsage(db: D1Database, row: SessionRow, calls: Iterable<Uncounted>): D1PreparedStatement[] {
  const counted: (string | number)[][] = [];
  for (const { rev, call } of calls) {
    // It was counted where it was made.
    if (call.copied) continue;
    const { input, cacheRead, cacheWrite, output } = call.usage;
    counted.push([rev, dayOf(call.at), input, cacheRead, cacheWrite, output]);
  }
  const add = `INSERT INTO usage (owner, day, input, cache_read, cache_write, output, calls)
    SELECT ?1, value ->> 1, sum(value ->> 2), sum(value ->> 3), sum(value ->> 4), sum(value ->> 5), count(*)
    FROM json_each(?2), sessions
    WHERE sessions.id = ?3 AND generation = ?4 AND deleted_at IS NULL AND (value ->> 0) > sessions.rev
    GROUP BY value ->> 1
    ON CONFLICT (owner, day) DO UPDATE SET
      input = input + excluded.input, cache_read = cache_read + excluded.cache_read,
      cache_write = cache_write + excluded.cache_write, output = output + excluded.output,
      calls = calls + excluded.calls`;
  const statements: D1PreparedStatement[] = [];
  for (let from = 0; from < counted.length; from += CALLS_A_STATEMENT) {
    const some = JSON.stringify(counted.slice(from, from + CALLS_A_STATEMENT));
    statements.push(db.prepare(add).bind(row.owner, some, sessionName(row), row.generation));
  }
  return statements;
}
