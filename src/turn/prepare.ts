import { deriveActive } from "../catalog/activation.ts";
import { type Catalog, toolCatalog } from "../catalog/catalog.ts";
import { SEARCH_SPEC } from "../catalog/search.ts";
import type { Agent, Tool } from "../define/types.ts";
import { sha256 } from "../prefix/digest.ts";
import { type Fingerprint, fingerprint } from "../prefix/ledger.ts";
import type { Definition, Item, ModelFacts, Prefix, Provider } from "../providers/contract.ts";
import type { ChainOpening } from "../session/contract.ts";
import type { Numbered } from "../values/entry.ts";
import type { CallSettings, EpochSettings } from "../values/settings.ts";
import { SEARCH_TOOL, type ToolSpec } from "../values/tool.ts";
import type { Markable } from "../values/tool-deferrals.ts";
import type { Cause, Verdict } from "../values/turn-event.ts";
import type { Chain, Conversation } from "./conversation.ts";
import { placeHostSearch } from "./host-search.ts";

interface HostSearch {
  readonly call: string;
  readonly names: readonly string[];
}

/** What a request is made with, the same for all steps of a turn. */
export interface Setup {
  readonly agent: Agent;
  readonly provider: Provider;
  /** The model's name without its provider. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly settings: { readonly call: CallSettings; readonly epoch: EpochSettings };
  /** The agent's instructions; asked at most once in a session's baseline. */
  instructions(): Promise<string>;
  /** The whole effective context, read from the session: for requests that can't go on from frozen bytes. */
  whole(): Promise<Numbered[]>;
  now(): number;
  mintId(): string;
}

/** A request that is ready to go, and what the session must be told of it. */
export interface Prepared {
  readonly body: string;
  readonly end: number | null;
  readonly chain: Chain;
  readonly opening: ChainOpening | null;
  readonly newItems: readonly Item[];
  readonly newDeferred: readonly Definition[];
  /** The deferrals changed: they must be saved before the request goes out. */
  readonly changed: boolean;
  /** Instructions that were asked for this request, to be frozen with it; null where they stand already. */
  readonly asked: string | null;
  /** The host search that was made for this request. */
  readonly searched: HostSearch | null;
  readonly verdict: Verdict;
  readonly place: string | null;
  readonly fingerprint: Fingerprint;
  readonly deferredHash: string;
  readonly catalog: Catalog<Tool>;
  readonly active: ReadonlySet<string>;
  readonly declared: ReadonlySet<string>;
}

/**
 * Makes the next request of a conversation (design §2): derives the active set, marks late tools (making a host search
 * where one is needed), goes on from the frozen bytes of the epoch or opens a new one, and says how the request stands
 * to the last. Only `setup`'s functions do I/O.
 */
export async function prepare(setup: Setup, conversation: Conversation): Promise<Prepared> {
  const { agent, provider, facts } = setup;
  const catalog = toolCatalog(agent, conversation.mode);
  const { active } = deriveActive({ evidence: conversation.evidence, catalog });
  const { changed, searched, inline: unmarked, rewrites } = markTools(setup, conversation, catalog, active);
  const names = declaredNames(setup, conversation, catalog, unmarked);
  const declared = new Set([...names.inline, ...names.deferred]);

  const cause = breakCause(setup, conversation, names.inline, rewrites);
  const base = cause === null ? conversation.chain : goOnFrom(conversation, rewrites);
  const epoch = cause === null && base !== null ? base.epoch : conversation.nextEpoch;
  const frozen = conversation.instructions;
  const entries = base === null && conversation.chain !== null ? await setup.whole() : conversation.unsent;
  const spec = specs(catalog);
  const prefix = cause === null && base !== null ? base.prefix : await freeze(setup, conversation, names.inline, spec);
  const known = cause === null && base !== null ? base.deferred : [];
  const newDeferred = names.deferred
    .filter((name) => !known.some((definition) => definition.name === name))
    .map((name) => definitionOf(setup, conversation.chain, name, true, spec));
  const newItems = provider.items({
    entries,
    deferrals: conversation.deferrals,
    declared,
    deferral: facts.deferral,
    chain: conversation.chainKey,
    epoch,
    runningTurn: facts.bound ? null : conversation.turn,
  });
  const kept = base?.items ?? [];
  const deferred = [...known, ...newDeferred];
  const items = [...kept, ...newItems];
  const printed = fingerprint(segments(prefix, deferred, items), conversation.chain?.last ?? null);
  const chain: Chain = {
    epoch,
    wire: base !== null && cause === null ? base.wire : provider.wire,
    revision: agent.revision,
    prefix,
    deferred,
    items,
    anchor: base?.anchor ?? null,
    last: printed,
    cut: false,
  };
  const { body, end } = provider.body({
    model: setup.model,
    prefix,
    deferred,
    items,
    anchor: chain.anchor,
    call: setup.settings.call,
    blobs: conversation.blobs,
  });
  const comparable = conversation.chain !== null && conversation.chain.last !== null;
  const verdict = verdictOf(cause, printed.extends || !comparable, kept, newItems);
  return {
    body,
    end,
    chain,
    opening: cause === null ? null : opening(conversation, chain, base),
    newItems,
    newDeferred,
    changed,
    asked: conversation.instructions === frozen ? null : conversation.instructions,
    searched,
    verdict,
    place: verdict.prefix === "break" && verdict.cause === "unexpected" ? "within the frozen bytes" : null,
    fingerprint: printed,
    deferredHash: sha256(deferred.map(({ bytes }) => bytes).join("\n")),
    catalog,
    active: new Set(active),
    declared,
  };
}

/**
 * Marks the tools of this call. A tool that needs a load point gets the last successful call if no request carried its
 * result yet; otherwise a host search is made for it, or, where the agent wants none, what there is (`rewrites`).
 */
function markTools(setup: Setup, conversation: Conversation, catalog: Catalog<Tool>, active: readonly string[]) {
  const tools: Markable[] = [
    ...catalog.core.map((tool) => ({ name: tool.spec.name })),
    ...(needsSearch(setup.agent, catalog) ? [{ name: SEARCH_TOOL }] : []),
    ...active.map((name) => ({ name })),
    ...catalog.lazy
      .filter((tool) => !active.includes(tool.spec.name))
      .map((tool) => ({ name: tool.spec.name, searchOnly: true })),
  ];
  const { deferrals, lastSuccess, sentThrough } = conversation;
  const late = deferrals.late(tools);
  const noUnsentSuccess = late.length > 0 && (lastSuccess === null || lastSuccess.seq <= sentThrough);
  const searched = noUnsentSuccess && setup.agent.hostSearch ? hostSearch(setup, conversation, late) : null;
  const rewrites = noUnsentSuccess && searched === null && lastSuccess !== null;
  const { marked, changed } = deferrals.markAt(searched?.call ?? lastSuccess?.call ?? null, tools);
  const recorded = new Set(deferrals.initial);
  const inline = marked
    .filter((tool) => !tool.searchOnly && tool.loadPoint === undefined && !recorded.has(tool.name))
    .map((tool) => tool.name);
  return { changed, searched, inline, rewrites };
}

/** `tool_search` stands in every first call, for a deploy can always add a tool; only an agent that wants neither goes without. */
function needsSearch(agent: Agent, catalog: Catalog): boolean {
  return agent.hostSearch || catalog.hasLazy;
}

/** Makes a host search, as an entry of the conversation. */
function hostSearch(setup: Setup, conversation: Conversation, names: readonly string[]): HostSearch {
  const { unsent, chain } = conversation;
  const sent = chain?.items ?? [];
  const place = placeHostSearch({
    newestAssistant: conversation.newestAssistant,
    sentThrough: conversation.sentThrough,
    unsent,
    newest: unsent.at(-1)?.seq ?? sent.at(-1)?.seq ?? 0,
    first: sent.length === 0 ? (unsent[0]?.seq ?? null) : null,
  });
  const call = `hfs_${setup.mintId()}`;
  conversation.add({
    v: 1,
    kind: "host_search",
    origin: "runtime",
    at: setup.now(),
    turn: conversation.turn,
    call,
    names,
    place,
  });
  return { call, names };
}

/**
 * What the request declares: the baseline inline in recorded order, then every name with a load point. A model without
 * deferral gets all of them inline; where a mode can withhold a tool only by leaving it out, it is left out.
 */
function declaredNames(setup: Setup, conversation: Conversation, catalog: Catalog, unmarked: readonly string[]) {
  const { facts } = setup;
  const shown = (name: string) => facts.toolChanges || !catalog.byName.has(name) || catalog.allowed(name);
  const initial = (conversation.deferrals.initial ?? []).filter(shown);
  const late = [...conversation.deferrals.loadPoints.keys()].filter(shown);
  if (!facts.deferral) return { inline: [...initial, ...late, ...unmarked], deferred: [] };
  return { inline: [...initial, ...unmarked], deferred: late };
}

/** Why this request can't extend the last one of its chain; null when it can, `first` for a session's first. */
function breakCause(
  setup: Setup,
  conversation: Conversation,
  inline: readonly string[],
  rewrites: boolean,
): Cause | "first" | null {
  const { chain, broken, sentThrough, unsent } = conversation;
  if (chain === null) return broken ?? "first";
  if (chain.cut) return "rewind";
  if (setup.agent.revision > chain.revision) return "revoked";
  if (rewrites || !sameNames(chain.prefix.tools, inline)) return "late_inline";
  const lost = unsent.some(({ seq }) => seq <= sentThrough);
  return lost && chain.wire !== setup.provider.wire ? "renderer" : null;
}

function sameNames(definitions: readonly Definition[], names: readonly string[]): boolean {
  return definitions.length === names.length && definitions.every(({ name }, index) => name === names[index]);
}

/**
 * The items a new epoch begins with, or null if everything has to be rendered again: because sent entries have to
 * change, or because the frozen bytes hold thinking, which belongs to the epoch that ended. After a cut the bytes
 * behind what is left are the ones its thinking was signed for, so it stays.
 */
function goOnFrom({ chain }: Conversation, rewrites: boolean): Chain | null {
  if (chain === null || rewrites) return null;
  return chain.cut || chain.items.every((item) => item.markable) ? chain : null;
}

function opening(conversation: Conversation, chain: Chain, base: Chain | null): ChainOpening {
  return {
    wire: chain.wire,
    revision: chain.revision,
    prefix: JSON.stringify(chain.prefix),
    base: base === null ? null : { epoch: base.epoch, items: base.items.length },
  };
}

/** The prefix of a new epoch. Definitions and system text that were sent before stay as they were. */
async function freeze(
  setup: Setup,
  conversation: Conversation,
  inline: readonly string[],
  specs: ReadonlyMap<string, ToolSpec>,
): Promise<Prefix> {
  const { agent, provider, model, settings } = setup;
  const { chain } = conversation;
  const revoked = chain !== null && agent.revision > chain.revision;
  const frozen = revoked ? null : chain;
  if (conversation.instructions === null || revoked) conversation.instructions = await setup.instructions();
  return {
    settings: frozen?.prefix.settings ?? provider.settings(model, settings.epoch),
    tools: inline.map((name) => definitionOf(setup, frozen, name, false, specs)),
    system: frozen?.prefix.system ?? [
      ...provider.system(conversation.instructions),
      ...provider.system(conversation.clientSystem ?? ""),
    ],
    ttl: frozen?.prefix.ttl ?? settings.epoch.cacheTtl ?? "5m",
  };
}

/** A definition as first sent, if the chain has it; otherwise the live one, or a tombstone for a tool that is gone. */
function definitionOf(
  setup: Setup,
  chain: Chain | null,
  name: string,
  deferred: boolean,
  specs: ReadonlyMap<string, ToolSpec>,
): Definition {
  const frozen = (deferred ? chain?.deferred : chain?.prefix.tools)?.find((definition) => definition.name === name);
  if (frozen !== undefined) return frozen;
  const gone: ToolSpec = { name, description: "No longer available.", inputSchema: { type: "object" } };
  return setup.provider.define(specs.get(name) ?? gone, deferred);
}

function specs(catalog: Catalog<Tool>): ReadonlyMap<string, ToolSpec> {
  return new Map([
    [SEARCH_TOOL, SEARCH_SPEC],
    ...[...catalog.byName].map(([name, tool]) => [name, tool.spec] as const),
  ]);
}

/** What the provider renders, in its order: settings, inline tools, system, items with the definitions they load. */
function segments(prefix: Prefix, deferred: readonly Definition[], items: readonly Item[]): string[] {
  const definitions = new Map(deferred.map(({ name, bytes }) => [name, bytes]));
  return [
    prefix.settings,
    ...prefix.tools.map(({ bytes }) => bytes),
    ...prefix.system,
    ...items.map((item) => [item.bytes, ...(item.loads ?? []).map((name) => definitions.get(name) ?? name)].join("\n")),
  ];
}

function verdictOf(
  cause: Cause | "first" | null,
  extendsLast: boolean,
  kept: readonly Item[],
  added: readonly Item[],
): Verdict {
  if (cause === "first") return { prefix: "first" };
  if (cause !== null) return { prefix: "break", cause };
  if (!extendsLast) return { prefix: "break", cause: "unexpected" };
  const firstImage = added.some((item) => item.image) && !kept.some((item) => item.image);
  return firstImage ? { prefix: "break", cause: "images" } : { prefix: "extends" };
}
