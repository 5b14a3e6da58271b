import { toolCatalog } from "../catalog/catalog.ts";
import { SUMMARY_REQUEST } from "../context/compaction.ts";
import { sha256 } from "../prefix/digest.ts";
import { fingerprint } from "../prefix/ledger.ts";
import type { Item } from "../providers/contract.ts";
import type { Numbered } from "../values/entry.ts";
import type { Verdict } from "../values/turn-event.ts";
import type { Sendable } from "./call-record.ts";
import type { Chain, Conversation } from "./conversation.ts";
import { declaredNames } from "./mark-tools.ts";
import { prepare } from "./prepare.ts";
import { segments } from "./segments.ts";
import type { Setup } from "./setup.ts";

/** Tokens that a summary may take. */
export const SUMMARY_TOKENS = 8_000;

/** What a summary is asked for with, in two forms that differ in their settings alone. */
export interface SummaryRequest {
  readonly first: Sendable;
  /** The first entry that it does not carry, if there is one. */
  readonly before: number | undefined;
  /** The same, for a model that called a tool: it may not. Another request of the same bytes but for its settings. */
  withoutCalls(): Sendable;
  /** What ends with an item of the provider's (`compactionTrigger`) in place of our words. */
  endingWith(trigger: string): Sendable;
}

/**
 * Asks for a summary of what the chain's last request carried and of what came since, but for the entries in `tail`. It
 * extends that request: its tools, its tool choice, its bytes, so that the largest request of a session is read from the
 * cache. Nothing is marked for it, and it is no link of the chain. `conversation` stays as it is.
 */
export async function summaryRequest(
  setup: Setup,
  conversation: Conversation,
  tail: ReadonlySet<number>,
): Promise<SummaryRequest> {
  const goesOn = intact(setup, conversation.chain);
  const chain = goesOn
    ? { ...goesOn, items: [...goesOn.items, ...rendered(setup, conversation, goesOn, tail)] }
    : await anew(setup, conversation, tail);
  const asked = { ...chain, items: [...chain.items, ...asking(setup, conversation, chain)] };
  const { withheld } = declared(setup, conversation);
  const asks = (whole: Chain, maxOutput: number): Sendable => {
    const printed = fingerprint(segments(whole), goesOn?.last ?? null);
    const extending: Verdict = printed.extends ? { prefix: "extends" } : { prefix: "break", cause: "unexpected" };
    const verdict = goesOn?.last == null ? chain.verdict : extending;
    return sendable(setup, conversation, { ...whole, withheld }, verdict, maxOutput);
  };
  return {
    first: asks(asked, SUMMARY_TOKENS),
    before: firstLeftOut(conversation, tail),
    endingWith(trigger) {
      const last: Item = { seq: conversation.lastSeq + 1, role: "user", bytes: trigger, markable: false };
      return asks({ ...chain, items: [...chain.items, last] }, Number.POSITIVE_INFINITY);
    },
    withoutCalls() {
      const prefix = { ...asked.prefix, settings: setup.provider.withoutCalls(asked.prefix.settings) };
      const verdict = { prefix: "break", cause: "settings" } as const;
      return sendable(setup, conversation, { ...asked, prefix, withheld: [] }, verdict, SUMMARY_TOKENS);
    },
  };
}

/** The chain, if its frozen bytes may be gone on from as they are. */
function intact({ agent }: Setup, chain: Chain | null): Chain | null {
  return chain === null || chain.cut || agent.revision > chain.revision ? null : chain;
}

/** What no request of the chain carried yet. Tools that are not declared yet have no load point in it. */
function rendered(setup: Setup, conversation: Conversation, chain: Chain, tail: ReadonlySet<number>): Item[] {
  return items(setup, conversation, chain, unsentWithout(conversation, tail));
}

function unsentWithout({ chain, unsent }: Conversation, tail: ReadonlySet<number>): Numbered[] {
  const answer = chain?.items.at(-1)?.ahead ? answering(unsent) : [];
  return [...answer, ...without(unsent.slice(answer.length), tail)];
}

function firstLeftOut(conversation: Conversation, tail: ReadonlySet<number>): number | undefined {
  const carried = new Set(unsentWithout(conversation, tail));
  return conversation.unsent.find((one) => !carried.has(one) && one.entry.kind !== "host_search")?.seq;
}

/**
 * The step that answered the chain's last request. Where that one ended with words on what the mode withholds an answer
 * has to follow them, though it stays and the summary need not speak of it.
 */
function answering(unsent: readonly Numbered[]): readonly Numbered[] {
  const next = unsent.findIndex(({ entry: { kind } }, index) => {
    return kind === "user" || kind === "system_update" || (kind === "assistant" && index > 0);
  });
  return next < 0 ? unsent : unsent.slice(0, next);
}

function declared(setup: Setup, conversation: Conversation) {
  return declaredNames(setup, conversation, toolCatalog(setup.agent, conversation.mode), []);
}

/** The whole context, where the next request of the chain would begin anew too. */
async function anew(setup: Setup, conversation: Conversation, tail: ReadonlySet<number>): Promise<Chain> {
  const draft = conversation.aside();
  draft.unsent = unsentWithout(draft, tail);
  // A search of ours goes to the end of what is left: what it could hang on otherwise may be in the tail.
  draft.sentThrough = Number.MAX_SAFE_INTEGER;
  const whole = async () => without(await setup.whole(), tail);
  const { chain } = await prepare({ ...setup, whole }, draft);
  // What is loaded in the tail alone is not there to be declared.
  const loaded = new Set(chain.items.flatMap(({ loads = [] }) => loads));
  return { ...chain, deferred: chain.deferred.filter(({ name }) => loaded.has(name)) };
}

function asking(setup: Setup, conversation: Conversation, chain: Chain): Item[] {
  const made = { v: 1, origin: "runtime", at: setup.now(), turn: conversation.turn } as const;
  const entry = { ...made, kind: "user", content: [{ type: "text", text: SUMMARY_REQUEST }] } as const;
  return items(setup, conversation, chain, [{ seq: conversation.lastSeq + 1, entry }]);
}

function items(
  setup: Setup,
  conversation: Conversation,
  { prefix: { tools }, deferred, epoch }: Chain,
  entries: readonly Numbered[],
): Item[] {
  const { provider, facts } = setup;
  const { deferrals, chainKey, turn } = conversation;
  return provider.items({
    ...{ tools, entries, deferrals, chain: chainKey, epoch },
    declared: new Set([...tools, ...deferred].map(({ name }) => name)),
    deferral: declared(setup, conversation).deferral,
    runningTurn: facts.bound ? null : turn,
  });
}

function without(entries: readonly Numbered[], tail: ReadonlySet<number>): Numbered[] {
  return entries.filter(({ seq }) => !tail.has(seq));
}

function sendable(
  setup: Setup,
  { message, blobs }: Conversation,
  { withheld, ...chain }: Chain & { readonly withheld: readonly string[] },
  verdict: Verdict,
  maxOutput: number,
): Sendable {
  const { model, provider, facts } = setup;
  const { stop: _, ...call } = setup.settings.call;
  const maxOutputTokens = Math.min(maxOutput, facts.maxOutput, Math.floor(facts.window / 4));
  const { prefix, deferred, items, anchor } = chain;
  const limited = { ...call, maxOutputTokens };
  const request = { model, prefix, deferred, items, withheld, anchor, call: limited, previous: message, blobs };
  const { body, end, compared = false } = provider.body(request);
  const printed = fingerprint(segments(chain), null);
  return {
    ...{ body, end, compared, chain, tail: [], verdict, place: null, fingerprint: printed, bare: printed },
    deferredHash: sha256(deferred.map(({ bytes }) => bytes).join("\n")),
  };
}
