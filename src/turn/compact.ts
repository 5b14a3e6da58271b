import { carriedTools } from "../catalog/carried-tools.ts";
import { toolCatalog } from "../catalog/catalog.ts";
import { type CompactionPlan, estimateTokens, planCompaction } from "../context/compaction.ts";
import type { CompactionEntry, Numbered } from "../values/entry.ts";
import type { Conversation } from "./conversation.ts";
import type { Model } from "./settings.ts";
import { turnSettings } from "./settings.ts";
import type { Setup } from "./setup.ts";
import { type Summary, type SummaryAsk, summarise } from "./summary.ts";
import { summaryRequest } from "./summary-request.ts";

/** Tokens of newest messages and steps that stay, where the agent doesn't say: a fifth of the window, and not above this. */
const KEPT_TOKENS = 20_000;
const WINDOW_SHARE = 0.2;
/** A short context is to become shorter too. */
const CONTEXT_SHARE = 0.25;

/** What is compacted, and why. */
export interface Compacting {
  /** With the agent's own model, as for the conversation's requests. */
  readonly setup: Setup;
  readonly conversation: Conversation;
  /** The effective context. */
  readonly whole: readonly Numbered[];
  /** The user entry that the running turn answers; null where none runs. */
  readonly asked: number | null;
  readonly why: CompactionEntry["why"];
  /** The model that writes the summary. */
  readonly model: Model;
  readonly ask: Omit<SummaryAsk, "model" | "call"> & { readonly step: number };
}

/** Whether a conversation has to be compacted before its next call: the last one used most of the model's window. */
export function isDue({ agent, facts, settings }: Setup, { used }: Conversation): boolean {
  const { automatic, threshold } = agent.compaction;
  return automatic && settings.epoch.compactAt === undefined && used !== null && used >= facts.window * threshold;
}

/**
 * Has a summary written and makes the entry of it, which the caller adds. Changes nothing itself. Null where the context
 * is too short for anything to be left out.
 */
export async function compact(work: Compacting): Promise<{ summary: Summary; entry: CompactionEntry | null } | null> {
  const { setup, conversation, whole, why } = work;
  const plan = planFor(work);
  if (plan === null) return null;
  const { model, ask } = work;
  const own = model.full === setup.fullModel;
  const asking = own ? conversation : conversation.aside({ chainKey: model.full, whole });
  const by = own ? setup : setupOn(work);
  const call = { turn: conversation.turn, step: ask.step, chain: asking.chainKey };
  const summary = await summarise({ ...ask, model, call }, await summaryRequest(by, asking, plan.tail));
  if (summary.text === null) return { summary, entry: null };
  return { summary, entry: compactionEntry(work, plan, { summary: summary.text, why }) };
}

/** What a compaction of this context keeps. */
export function planFor({
  setup: { agent, facts },
  whole,
  asked,
}: Pick<Compacting, "setup" | "whole" | "asked">): CompactionPlan | null {
  const size = whole.reduce((sum, { entry }) => sum + estimateTokens(entry), 0);
  const most = agent.compaction.keep ?? Math.min(KEPT_TOKENS, facts.window * WINDOW_SHARE);
  return planCompaction(whole, { budget: Math.min(most, size * CONTEXT_SHARE), asked });
}

export function compactionEntry(
  { setup: { agent, now }, conversation: { turn, mode }, whole }: Pick<Compacting, "setup" | "conversation" | "whole">,
  { kept }: Pick<CompactionPlan, "kept">,
  said: Pick<CompactionEntry, "summary" | "why" | "block">,
): CompactionEntry {
  const { byName } = toolCatalog(agent, mode);
  const carriedToolNames = carriedTools(whole, kept, turn).filter((name) => byName.get(name)?.lazy !== false);
  return { v: 1, kind: "compaction", origin: "runtime", at: now(), turn, kept, carriedToolNames, ...said };
}

/** What another model's request is made with. */
function setupOn({ setup, model }: Compacting): Setup {
  const { provider, facts } = model;
  const settings = turnSettings(setup.agent, model, { call: {}, epoch: {} });
  return { ...setup, provider, facts, fullModel: model.full, model: model.name, settings };
}
