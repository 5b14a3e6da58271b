import { carriedTools } from "../catalog/carried-tools.ts";
import { toolCatalog } from "../catalog/catalog.ts";
import { type CompactionPlan, estimateTokens, planCompaction } from "../context/compaction.ts";
import type { CompactionEntry, Numbered } from "../values/entry.ts";
import { addUsage } from "../values/usage.ts";
import type { Conversation } from "./conversation.ts";
import { isTooLong } from "./refused.ts";
import type { Model } from "./settings.ts";
import { turnSettings } from "./settings.ts";
import type { Setup } from "./setup.ts";
import { compactedByProvider, following, type Summary, type SummaryAsk, summarise } from "./summary.ts";
import { summariseParts } from "./summary-parts.ts";
import { type SummaryRequest, summaryRequest } from "./summary-request.ts";

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
  const asking = own ? conversation : conversation.aside({ chainKey: model.full, whole, cause: "model" });
  const by = own ? setup : setupOn(work);
  const asked = { ...ask, model, call: { turn: conversation.turn, step: ask.step, chain: asking.chainKey } };
  const request = await summaryRequest(by, asking, plan.tail);
  let summary = await summarise(asked, request);
  if (summary.text === null && isTooLong(summary.failure)) {
    const context = whole.filter(({ seq }) => !plan.tail.has(seq));
    const inParts = await summariseParts(asked, by, asking, context);
    if (inParts !== null) summary = following(summary, inParts);
  }
  if (summary.text === null) return { summary, entry: null };
  const said = { summary: summary.text, why };
  const made = await block(work, plan, own ? request : null);
  if (made === null) return { summary, entry: compactionEntry(work, plan, { ...said, ...place(whole, [request]) }) };
  const calls = [...summary.calls, ...made.calls];
  const usage = addUsage(summary.usage, made.usage);
  const entry = compactionEntry(work, plan, { ...said, ...made.said, ...place(whole, [request, made.asked]) });
  return { summary: { ...summary, calls, usage }, entry };
}

/** Where a compaction stands that was asked for with these: what an earlier one says is part of its summary too. */
function place(
  [first]: readonly Numbered[],
  asked: readonly Pick<SummaryRequest, "before">[],
): Pick<CompactionEntry, "before"> {
  const earlier = first?.entry.kind === "compaction" ? placeOf(first.seq, first.entry) : 0;
  const before = Math.max(earlier, ...asked.map((request) => request.before ?? Number.POSITIVE_INFINITY));
  return before === Number.POSITIVE_INFINITY ? {} : { before };
}

/** The entry that a compaction stands before, which is its own where it speaks of all that came before it. */
function placeOf(seq: number, { before }: Pick<CompactionEntry, "before">): number {
  return before ?? seq;
}

/**
 * The provider's own compaction beside our summary, where the agent wants it and the provider makes one when asked. The
 * summary stays: it is what every other model reads, and this one too once the provider can't read its block any more.
 */
async function block(work: Compacting, { tail }: CompactionPlan, request: SummaryRequest | null) {
  const { setup, conversation, why, ask } = work;
  const { provider, facts, agent, fullModel: full } = setup;
  const trigger = facts.compacts === "when_asked" ? provider.compactionTrigger : undefined;
  if (trigger === undefined || why !== "threshold" || agent.compaction.by !== "provider") return null;
  const asked = request ?? (await summaryRequest(setup, conversation, tail));
  const call = { turn: conversation.turn, step: ask.step, chain: conversation.chainKey };
  const model = { full, name: setup.model, provider, facts };
  const { block: raw, ...made } = await compactedByProvider({ ...ask, model, call }, asked.endingWith(trigger));
  if (raw === null) return { ...made, asked, said: {} };
  return { ...made, asked, said: { why: "provider", block: { provider: provider.name, model: full, raw } } as const };
}

/**
 * The compaction that a context begins with once more, without its block: for a provider that made the block and can't
 * read it any more. Null where there is no such block.
 */
export function withoutBlock(
  { provider, now }: Setup,
  whole: readonly Numbered[],
  turn: string,
): CompactionEntry | null {
  const [first, ...rest] = whole;
  if (first?.entry.kind !== "compaction" || first.entry.block?.provider !== provider.name) return null;
  const { block: _, ...entry } = first.entry;
  const place = { kept: staying(rest), before: placeOf(first.seq, entry) };
  return { ...entry, at: now(), turn, ...place, ...systemIn(whole) };
}

/** All of a context that can stay behind a compaction of it: not an earlier one, nor what becomes system text. */
export function staying(whole: readonly Numbered[]): number[] {
  const stays = whole.filter(({ entry: { kind } }) => kind !== "compaction" && kind !== "system_update");
  return stays.map(({ seq }) => seq).sort((a, b) => a - b);
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
  said: Pick<CompactionEntry, "summary" | "why" | "before" | "block">,
): CompactionEntry {
  const { byName } = toolCatalog(agent, mode);
  const carriedToolNames = carriedTools(whole, kept, turn).filter((name) => byName.get(name)?.lazy !== false);
  const made = { v: 1, kind: "compaction", origin: "runtime", at: now(), turn } as const;
  return { ...made, kept, carriedToolNames, ...said, ...systemIn(whole) };
}

/** The client's system text in force, where the session was frozen with another. */
function systemIn(whole: readonly Numbered[]): Pick<CompactionEntry, "system"> {
  const texts = whole.flatMap(({ entry }) => {
    if (entry.kind === "compaction") return entry.system ?? [];
    return entry.kind === "system_update" && entry.origin === "client" ? entry.text : [];
  });
  const system = texts.at(-1);
  return system === undefined ? {} : { system };
}

/** What another model's request is made with. */
function setupOn({ setup, model }: Compacting): Setup {
  const { provider, facts } = model;
  const settings = turnSettings(setup.agent, model, { call: {}, epoch: {} });
  return { ...setup, provider, facts, fullModel: model.full, model: model.name, settings };
}
