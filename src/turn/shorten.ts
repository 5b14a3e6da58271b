import { RETRIES } from "../providers/contract.ts";
import type { CallRecord } from "../session/contract.ts";
import type { CompactionEntry } from "../values/entry.ts";
import { compact, compactionEntry, isDue, planFor, staying } from "./compact.ts";
import type { Conversation } from "./conversation.ts";
import type { HeldTurn } from "./held-turn.ts";
import { lost } from "./journal.ts";
import { summaryModel } from "./settings.ts";

/** Whether a running turn's context has to be compacted before its next request. */
export function mustShorten({ keepsLong, setup, conversation }: HeldTurn): boolean {
  return !keepsLong && isDue(setup, conversation);
}

/**
 * Makes a running turn's context shorter, by a summary that is asked for as `from` stands. False where that did not
 * succeed, which changes nothing.
 */
export async function shorten(turn: HeldTurn, why: CompactionEntry["why"], from: Conversation): Promise<boolean> {
  const { runtime, env, now, observe, log } = turn.deps;
  const { agent } = turn.request;
  const whole = await turn.setup.whole();
  const done = await compact({
    ...{ setup: turn.setup, conversation: from, whole, asked: turn.start.userSeq, why },
    model: summaryModel(runtime, agent, env, turn.model),
    ask: { env, signal: turn.pulse.signal, now, observe, step: turn.step },
  });
  if (turn.pulse.ended === "lost") throw lost();
  if (done === null) return false;
  const { summary, entry } = done;
  turn.uses(summary.usage);
  for (const _ of summary.calls) turn.subrequests.model(RETRIES);
  for (const call of entry === null ? summary.calls : summary.calls.slice(0, -1)) await turn.saveCall(call);
  if (entry !== null) turn.conversation.compact(entry, whole, summary.calls.at(-1) ?? null);
  else log("compaction failed", { level: "warn", turn: turn.start.turn, agent: agent.name });
  return entry !== null;
}

/** The provider compacted the context by itself: its block stands for what came before, and all else is as ever. */
export async function shortenedBy(
  turn: HeldTurn,
  { summary, raw }: { readonly summary: string; readonly raw: string },
  call: CallRecord | null,
): Promise<void> {
  const whole = await turn.setup.whole();
  const work = { setup: turn.setup, conversation: turn.conversation, whole, asked: turn.start.userSeq };
  const kept = planFor(work)?.kept ?? staying(whole);
  const block = { provider: turn.model.provider.name, model: turn.model.full, raw };
  turn.conversation.compact(compactionEntry(work, { kept }, { summary, why: "provider", block }), whole, call);
}
