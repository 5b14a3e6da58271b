import type { SessionSummary } from "./contract.ts";

/** Which sessions, and which page of them. */
export interface SessionListQuery {
  readonly owner: string;
  readonly agent: string;
  readonly limit: number;
  /** What an earlier page answered as `next`; any other text is the end of the list. */
  readonly cursor: string | null;
}

export interface SessionList {
  readonly sessions: readonly Omit<SessionSummary, "status" | "running" | "usage">[];
  readonly next: string | null;
}

/** The sessions of an owner with an agent, as D1 has them (so it may lag by a turn), those used last first. */
export async function listSessions(
  db: D1Database,
  { owner, agent, limit, cursor }: SessionListQuery,
): Promise<SessionList> {
  const [before, after] = readCursor(cursor);
  const query = `SELECT conversation, agent, title, mode, created_at, updated_at, entries, forked_from, forked_at
    FROM sessions
    WHERE owner = ?1 AND agent = ?2 AND deleted_at IS NULL AND rev > 0 AND parent IS NULL
      AND (updated_at < ?3 OR (updated_at = ?3 AND conversation > ?4))
    ORDER BY updated_at DESC, conversation LIMIT ?5`;
  const { results } = await db
    .prepare(query)
    .bind(owner, agent, before, after, limit + 1)
    .all<SessionListRow>();
  const rows = results.slice(0, limit);
  const last = rows.at(-1);
  return {
    sessions: rows.map(({ created_at: createdAt, updated_at: updatedAt, forked_from, forked_at, ...rest }) => ({
      ...rest,
      createdAt,
      updatedAt,
      forkedFrom: forked_from === null ? null : { id: forked_from, at: forked_at },
    })),
    next: results.length > limit && last ? JSON.stringify([last.updated_at, last.conversation]) : null,
  };
}

interface SessionListRow {
  readonly conversation: string;
  readonly agent: string;
  readonly title: string;
  readonly mode: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly entries: number;
  readonly forked_from: string | null;
  readonly forked_at: number | null;
}

function readCursor(cursor: string | null): [before: number, after: string] {
  if (cursor === null) return [Number.MAX_SAFE_INTEGER, ""];
  try {
    const value: unknown = JSON.parse(cursor);
    if (Array.isArray(value) && typeof value[0] === "number" && typeof value[1] === "string") {
      return [value[0], value[1]];
    }
  } catch {
    // A cursor that is not ours points behind the last session.
  }
  return [-1, ""];
}
