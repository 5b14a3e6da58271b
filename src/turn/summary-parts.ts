import { inParts } from "../context/compaction.ts";
import type { CompactionEntry, Numbered } from "../values/entry.ts";
import type { Conversation } from "./conversation.ts";
import type { Setup } from "./setup.ts";
import { following, type Summary, type SummaryAsk, summarise } from "./summary.ts";
import { summaryRequest } from "./summary-request.ts";

/** The share of the model's window that a part may take by our estimate, which may be far below what the provider counts. */
const PART_SHARE = 0.5;

/**
 * Asks for a summary of a context that is longer than the model takes (the conversation came from a model that takes more),
 * part by part, each with the summary of those before it. Null where there is only one part.
 */
export async function summariseParts(
  ask: SummaryAsk,
  setup: Setup,
  conversation: Conversation,
  context: readonly Numbered[],
): Promise<Summary | null> {
  const parts = inParts(context, setup.facts.window * PART_SHARE);
  if (parts.length < 2) return null;
  const { chainKey, turn } = conversation;
  const instructions = async () => conversation.instructions?.text ?? setup.instructions();
  let soFar: Summary | null = null;
  for (const part of parts) {
    const entries: Numbered[] = soFar?.text == null ? part : [earlier(soFar.text, turn, setup.now()), ...part];
    const whole = async () => entries;
    const aside = conversation.aside({ chainKey, whole: entries, cause: "compaction" });
    // Load points may be in another part: all that is loaded stands inline.
    aside.deferrals.reset();
    const summary: Summary = await summarise(
      ask,
      await summaryRequest({ ...setup, whole, instructions }, aside, new Set()),
    );
    soFar = soFar === null ? summary : following(soFar, summary);
    if (soFar.text === null) return soFar;
  }
  return soFar;
}

/** What stands for the parts before; of no session. */
function earlier(summary: string, turn: string, at: number): Numbered<CompactionEntry> {
  const made = { v: 1, origin: "runtime", at, turn } as const;
  return { seq: 0, entry: { ...made, kind: "compaction", summary, kept: [], carriedToolNames: [], why: "too_long" } };
}
