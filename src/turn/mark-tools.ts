import type { Activation } from "../catalog/activation.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Agent, Tool } from "../define/types.ts";
import { ENTER_PLAN_TOOL, SEARCH_TOOL, SUBMIT_PLAN_TOOL } from "../values/tool.ts";
import type { Markable } from "../values/tool-deferrals.ts";
import type { Conversation } from "./conversation.ts";
import { placeHostSearch } from "./host-search.ts";
import type { Setup } from "./setup.ts";

/** A search the runtime made so that late tools have a load point no sent byte depends on. */
export interface HostSearch {
  readonly call: string;
  readonly names: readonly string[];
}

/**
 * Marks the tools of this call. A tool that needs a load point gets the last successful call if no request carried its
 * result yet; otherwise a host search is made for it, or, where the agent wants none, what there is (`rewrites`).
 */
export function markTools(
  setup: Setup,
  conversation: Conversation,
  catalog: Catalog<Tool>,
  { active, forbidden }: Pick<Activation, "active" | "forbidden">,
) {
  const { deferrals, lastSuccess, sentThrough } = conversation;
  const unsent = lastSuccess !== null && lastSuccess.seq > sentThrough;
  // What the mode withholds for now is the session's all the same: in a baseline, and where a load point is at hand.
  const first = deferrals.initial === null;
  const tools: Markable[] = [
    ...(first ? coreOfAllModes(catalog, conversation) : catalog.core).map((tool) => ({ name: tool.spec.name })),
    ...(needsSearch(setup.agent, catalog) ? [{ name: SEARCH_TOOL }] : []),
    ...[...active, ...(first || unsent ? forbidden : [])].map((name) => ({ name })),
    ...catalog.lazy
      .filter((tool) => !active.includes(tool.spec.name))
      .map((tool) => ({ name: tool.spec.name, searchOnly: true })),
  ];
  const late = deferrals.late(tools);
  const noUnsentSuccess = late.length > 0 && !unsent;
  const searched = noUnsentSuccess && setup.agent.hostSearch ? hostSearch(setup, conversation, late) : null;
  const rewrites = noUnsentSuccess && searched === null && lastSuccess !== null;
  const { marked, changed } = deferrals.markAt(searched?.call ?? lastSuccess?.call ?? null, tools);
  const recorded = new Set(deferrals.initial);
  const inline = marked
    .filter((tool) => !tool.searchOnly && tool.loadPoint === undefined && !recorded.has(tool.name))
    .map((tool) => tool.name);
  return { changed, searched, inline, rewrites };
}

/**
 * Core tools, those that the mode forbids included. The tools of plan mode join where it allows them, unless the history
 * has calls of them already.
 */
function coreOfAllModes(catalog: Catalog<Tool>, { evidence }: Conversation): Tool[] {
  const joins = (name: string) => name !== ENTER_PLAN_TOOL && name !== SUBMIT_PLAN_TOOL;
  const called = (name: string) => evidence.some((one) => one.name === name);
  return [...catalog.byName.values()].filter(
    ({ lazy, spec: { name } }) => !lazy && (catalog.allowed(name) || joins(name) || called(name)),
  );
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
 * deferral gets all of them inline; where a mode can withhold a tool only by leaving it out, it is left out, elsewhere it
 * is among `withheld`.
 */
export function declaredNames(setup: Setup, conversation: Conversation, catalog: Catalog, unmarked: readonly string[]) {
  const { facts } = setup;
  const shown = (name: string) => facts.toolChanges || catalog.allowed(name);
  const recorded = conversation.deferrals.initial ?? [];
  const initial = recorded.filter(shown);
  const late = [...conversation.deferrals.loadPoints.keys()].filter(shown);
  const deferral = facts.deferral && (facts.deferralBySearch !== true || recorded.includes(SEARCH_TOOL));
  const withheld = [...initial, ...late].filter((name) => !catalog.allowed(name));
  if (!deferral) return { inline: [...initial, ...late, ...unmarked], deferred: [], deferral, withheld };
  return { inline: [...initial, ...unmarked], deferred: late, deferral, withheld };
}
