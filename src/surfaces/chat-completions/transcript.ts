import { normaliseText, type SentMessage } from "../../context/align-history.ts";
import type { AppDeps } from "../../http/deps.ts";
import { within } from "../../http/within.ts";

/** Longer than this no answer waits for D1. */
const D1_MS = 1_000;

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
  sent: readonly SentMessage[],
): Promise<string | null> {
  const before = sent.slice(0, -1);
  if (!before.some(({ role }) => role === "assistant")) return null;
  const found = await within(D1_MS, async () =>
    transcripts.findTranscript(db, owner, agent, await transcripts.transcriptHash(before)),
  );
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
  sent: readonly SentMessage[],
  answer: string,
): Promise<void> {
  const text = normaliseText(answer);
  const transcript: SentMessage[] = text === "" ? [...sent] : [...sent, { role: "assistant", text }];
  const saved = await within(D1_MS, async () =>
    transcripts.saveTranscript(db, owner, agent, conversation, await transcripts.transcriptHash(transcript)),
  );
  if (!saved.ok) log("transcript not saved", { level: "warn", requestId, why: saved.why });
}
