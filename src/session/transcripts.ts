import type { SentMessage } from "../context/align-history.ts";

/**
 * Hash of a conversation as a client shows it, by which a request without an id finds its session. `messages` are
 * normalised; an assistant message without text counts for nothing, as in history alignment.
 */
export async function transcriptHash(messages: readonly SentMessage[]): Promise<string> {
  const shown = messages.filter(({ role, text }) => role === "user" || text !== "");
  const text = JSON.stringify(shown.map(({ role, text }) => [role, text]));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The owner's conversation with that agent whose newest transcript has that hash, the latest of several, or null. */
export async function findTranscript(
  db: D1Database,
  owner: string,
  agent: string,
  hash: string,
): Promise<string | null> {
  const query = `SELECT conversation FROM transcripts WHERE owner = ? AND agent = ? AND hash = ?
    ORDER BY updated_at DESC LIMIT 1`;
  const row = await db.prepare(query).bind(owner, agent, hash).first<{ conversation: string }>();
  return row?.conversation ?? null;
}

/** Keeps the hash of a conversation as it stands now, instead of the one before. */
export async function saveTranscript(
  db: D1Database,
  owner: string,
  agent: string,
  conversation: string,
  hash: string,
): Promise<void> {
  const upsert = `INSERT INTO transcripts (owner, agent, conversation, hash, updated_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET hash = excluded.hash, updated_at = excluded.updated_at`;
  await db.prepare(upsert).bind(owner, agent, conversation, hash, Date.now()).run();
}
