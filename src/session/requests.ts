import type { SessionId } from "./contract.ts";
import { RETRY_MS } from "./repeat.ts";

/** The newest conversation that an owner began with this very request (its SHA-256), if that was less than 10 minutes ago. */
export async function findRequest(
  db: D1Database,
  { owner, agent }: Pick<SessionId, "owner" | "agent">,
  body: string,
  now: number,
): Promise<string | null> {
  const query = "SELECT conversation FROM requests WHERE owner = ? AND agent = ? AND body = ? AND at > ?";
  const row = await db
    .prepare(query)
    .bind(owner, agent, body, now - RETRY_MS)
    .first<{ conversation: string }>();
  return row?.conversation ?? null;
}

/** Notes which conversation a request began, and forgets those that are too old to be asked for. */
export async function saveRequest(db: D1Database, id: SessionId, body: string, now: number): Promise<void> {
  const { owner, agent, conversation } = id;
  const insert = "INSERT OR REPLACE INTO requests (owner, agent, body, conversation, at) VALUES (?, ?, ?, ?, ?)";
  await db.batch([
    db.prepare("DELETE FROM requests WHERE at <= ?").bind(now - RETRY_MS),
    db.prepare(insert).bind(owner, agent, body, conversation, now),
  ]);
}
