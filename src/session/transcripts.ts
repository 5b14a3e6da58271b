import type { SentMessage } from "../context/align-history.ts";
import { sha256 } from "../prefix/digest.ts";
import type { SessionId } from "./contract.ts";
import { sessionName } from "./name.ts";

/** `attachments`: what of the message is no text, in order, each as a text that no other content has. */
export type TranscriptMessage = SentMessage & { readonly attachments: readonly string[] };

/** A conversation as its client has it: what two of them must share to be one. */
export interface Transcript {
  /** The client's own system text; null where it sends none. */
  readonly system: string | null;
  readonly messages: readonly TranscriptMessage[];
}

/**
 * SHA-256 of a transcript, by which a request without an id finds its session. Texts are compared as history alignment
 * compares them; an assistant message without text counts for nothing, as it does there.
 */
export function transcriptHash({ system, messages }: Transcript): string {
  const shown = messages.filter(({ role, text }) => role === "user" || text !== "");
  return sha256(JSON.stringify([system, ...shown.map(({ role, text, attachments }) => [role, text, attachments])]));
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

/**
 * Keeps the hash of a conversation as it stands now, instead of the one before. Where the conversation has a tombstone
 * nothing is kept: it may have been deleted while its last answer was on its way.
 */
export async function saveTranscript(db: D1Database, id: SessionId, hash: string): Promise<void> {
  const upsert = `INSERT INTO transcripts (owner, agent, conversation, hash, updated_at) SELECT ?1, ?2, ?3, ?4, ?5
    WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE id = ?6 AND deleted_at IS NOT NULL)
    ON CONFLICT DO UPDATE SET hash = excluded.hash, updated_at = excluded.updated_at`;
  const values = [id.owner, id.agent, id.conversation, hash, Date.now(), sessionName(id)];
  await db
    .prepare(upsert)
    .bind(...values)
    .run();
}
