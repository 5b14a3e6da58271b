import { comparableText } from "../../context/align-history.ts";
import type { AppDeps } from "../../http/deps.ts";
import type { Transcript } from "../../session/transcripts.ts";
import { within } from "../../turn/within.ts";

/** Longer than this no answer waits for D1. */
export const D1_MS = 1_000;

/** Whose transcript it is, and the request that asks, for the log. */
export interface Whose {
  readonly owner: string;
  readonly agent: string;
  readonly requestId: string;
}

/**
 * The conversation that a request without an id goes on with: the one whose last transcript is what this request has
 * before its new user message. Null where there is none, where the client brought no answer of ours, or where D1 can't
 * be asked: a new session then starts from the client's messages.
 */
export async function findConversation(
  { transcripts, log }: Pick<AppDeps, "transcripts" | "log">,
  db: D1Database,
  { owner, agent, requestId }: Whose,
  { system, messages }: Transcript,
): Promise<string | null> {
  const before = messages.slice(0, -1);
  if (!before.some(({ role }) => role === "assistant")) return null;
  const hash = transcripts.transcriptHash({ system, messages: before });
  const found = await within(D1_MS, () => transcripts.findTranscript(db, owner, agent, hash));
  if (found.ok) return found.value;
  log("transcript not read", { level: "warn", requestId, why: found.why });
  return null;
}

/**
 * Notes the transcript as the client has it now, so that it can go on without an id. An answer is never lost over
 * this: where D1 fails or is slow, the client's next request starts a new session from its own messages.
 */
export async function rememberTranscript(
  { transcripts, log }: Pick<AppDeps, "transcripts" | "log">,
  db: D1Database,
  { owner, agent, conversation, requestId }: Whose & { readonly conversation: string },
  { system, messages }: Transcript,
  answer: string,
): Promise<void> {
  const text = comparableText("assistant", answer);
  const said = { role: "assistant", text, attachments: [] } as const;
  const hash = transcripts.transcriptHash({ system, messages: [...messages, said] });
  const saved = await within(D1_MS, () => transcripts.saveTranscript(db, { owner, agent, conversation }, hash));
  if (!saved.ok) log("transcript not saved", { level: "warn", requestId, why: saved.why });
}
