import { deriveActive } from "../catalog/activation.ts";
import { type Catalog, toolCatalog } from "../catalog/catalog.ts";
import type { Tool } from "../define/types.ts";
import { sha256 } from "../prefix/digest.ts";
import { type Fingerprint, fingerprint } from "../prefix/ledger.ts";
import { placeOf } from "../prefix/marks.ts";
import type { Definition, Item } from "../providers/contract.ts";
import type { ChainOpening } from "../session/contract.ts";
import type { Entry } from "../values/entry.ts";
import type { Cause, Verdict } from "../values/turn-event.ts";
import { rendererOf } from "./begin.ts";
import type { Chain, Conversation, Instructions } from "./conversation.ts";
import { definitionOf, freeze, specs } from "./freeze.ts";
import { declaredNames, type HostSearch, markTools } from "./mark-tools.ts";
import { type Frozen, marksOf, prefixMarks, segments } from "./segments.ts";
import type { Setup } from "./setup.ts";
import { toolChanges } from "./tool-changes.ts";

/** A request that is ready to go, and what the session must be told of it. */
export interface Prepared {
  readonly body: string;
  readonly end: number | null;
  /** The provider is asked what of the chain's last answered request it could reuse. */
  readonly compared: boolean;
  readonly chain: Chain;
  readonly opening: ChainOpening | null;
  readonly newItems: readonly Item[];
  /** What the request ends with behind `chain.items`; part of the chain once an answer follows (`tool-changes.ts`). */
  readonly tail: readonly Item[];
  readonly newDeferred: readonly Definition[];
  /** The deferrals changed: they must be saved before the request goes out. */
  readonly changed: boolean;
  /** Instructions that were asked for this request, to be frozen with it; null where they stand already. */
  readonly asked: Instructions | null;
  /** The host search that was made for this request. */
  readonly searched: HostSearch | null;
  readonly verdict: Verdict;
  readonly place: string | null;
  /** Of the request, and of what stands before `tail`. */
  readonly fingerprint: Fingerprint;
  readonly bare: Fingerprint;
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
  // Instructions are asked anew where a new baseline is recorded, and where the operator withdrew them (design §3.5).
  const newBaseline = conversation.deferrals.initial === null && conversation.chain === null;
  if (newBaseline || (conversation.instructions?.revision ?? 0) < agent.revision) conversation.instructions = null;
  const catalog = toolCatalog(agent, conversation.mode);
  const activation = deriveActive({ evidence: conversation.evidence, catalog });
  const { changed, searched, inline: unmarked, rewrites } = markTools(setup, conversation, catalog, activation);
  const names = declaredNames(setup, conversation, catalog, unmarked);
  const declared = new Set([...names.inline, ...names.deferred]);

  const changes = prefixChanges(setup, conversation, names, rewrites);
  const cause = breakCause(setup, conversation, changes);
  const base = cause === null ? conversation.chain : goOnFrom(conversation, changes);
  const epoch = cause === null && base !== null ? base.epoch : conversation.nextEpoch;
  const knownInstructions = conversation.instructions;
  const entries = base === null && conversation.chain !== null ? await setup.whole() : conversation.unsent;
  const spec = specs(catalog);
  const prefix = cause === null && base !== null ? base.prefix : await freeze(setup, conversation, names.inline, spec);
  const known = cause === null && base !== null ? base.deferred : [];
  const newDeferred = names.deferred
    .filter((name) => !known.some((definition) => definition.name === name))
    .map((name) => definitionOf(setup, changes.revoked ? null : conversation.chain, name, true, spec));
  const newItems = provider.items({
    tools: prefix.tools,
    entries,
    deferrals: conversation.deferrals,
    declared,
    deferral: names.deferral,
    chain: conversation.chainKey,
    epoch,
    runningTurn: facts.bound ? null : conversation.turn,
  });
  const kept = base?.items ?? [];
  const deferred = [...known, ...newDeferred];
  const items = [...kept, ...newItems];
  const printed = fingerprint(segments({ prefix, deferred, items }), conversation.chain?.last ?? null);
  const tail = toolChanges(setup, items, declared, catalog.allowed, conversation.lastSeq + 1);
  const sent = [...items, ...tail];
  const whole = tail.length === 0 ? printed : fingerprint(segments({ prefix, deferred, items: sent }), null);
  const verdict = verdictOf(conversation, cause, printed.extends, newItems);
  const chain: Chain = {
    epoch,
    verdict: cause === null && base !== null ? base.verdict : verdict,
    revision: cause === null && base !== null ? base.revision : agent.revision,
    prefix,
    deferred,
    items,
    anchor: base?.anchor ?? null,
    last: printed,
    cut: false,
  };
  const {
    body,
    end,
    compared = false,
  } = provider.body({
    model: setup.model,
    prefix,
    deferred,
    items: sent,
    withheld: names.withheld,
    anchor: chain.anchor,
    call: setup.settings.call,
    previous: conversation.message,
    blobs: conversation.blobs,
  });
  return {
    body,
    end,
    compared,
    chain,
    opening: cause === null ? null : opening(chain, base),
    newItems,
    tail,
    newDeferred,
    changed,
    asked: conversation.instructions === knownInstructions ? null : conversation.instructions,
    searched,
    verdict,
    place:
      verdict.prefix === "break" && verdict.cause === "unexpected"
        ? await placeOfMismatch(setup, conversation, chain)
        : null,
    fingerprint: whole,
    bare: printed,
    deferredHash: sha256(deferred.map(({ bytes }) => bytes).join("\n")),
    catalog,
    active: new Set(activation.active),
    declared,
  };
}

/** What of the chain's frozen prefix, or of what was sent behind it, this request has to change. */
interface Changes {
  /** The operator withdrew what was frozen. */
  readonly revoked: boolean;
  /** The inline tools are others. */
  readonly inline: boolean;
  /** A load point is at a call that was sent already. */
  readonly rewrites: boolean;
  /** A deploy let the mode do more: a tool is to be shown whose load point was sent without it. */
  readonly shown: boolean;
}

function prefixChanges(
  { agent }: Setup,
  { chain, deferrals, unsent }: Conversation,
  { inline, deferred }: { readonly inline: readonly string[]; readonly deferred: readonly string[] },
  rewrites: boolean,
): Changes {
  if (chain === null) return { revoked: false, inline: false, rewrites: false, shown: false };
  const fresh = deferred.filter((name) => !chain.deferred.some((definition) => definition.name === name));
  const calls = fresh.length === 0 ? [] : unsent.flatMap(({ entry }) => loadPointsIn(entry));
  return {
    revoked: agent.revision > chain.revision,
    inline: !sameNames(chain.prefix.tools, inline),
    rewrites,
    shown: fresh.some((name) => !calls.includes(deferrals.loadPoints.get(name) ?? "")),
  };
}

/** Calls whose results or definitions an entry brings. */
function loadPointsIn(entry: Entry): string[] {
  if (entry.kind === "host_search") return [entry.call];
  return entry.kind === "results" ? entry.results.map(({ call }) => call) : [];
}

/** Why this request can't extend the last one of its chain; null when it can, `first` for a session's first. */
function breakCause(setup: Setup, conversation: Conversation, changes: Changes): Cause | "first" | null {
  const { chain, broken, sentThrough, sentWire, unsent } = conversation;
  if (chain === null) return broken ?? "first";
  if (changes.revoked) return "revoked";
  if (chain.cut) return "rewind";
  if (changes.inline || changes.rewrites) return "late_inline";
  if (changes.shown) return "mode";
  const lost = unsent.some(({ seq }) => seq <= sentThrough);
  const [model = ""] = sentWire.split(" ");
  const otherRelease = model === setup.fullModel && sentWire !== rendererOf(model, setup.provider);
  return lost && otherRelease ? "renderer" : null;
}

function sameNames(definitions: readonly Definition[], names: readonly string[]): boolean {
  return definitions.length === names.length && definitions.every(({ name }, index) => name === names[index]);
}

/**
 * The items a new epoch begins with, or null if everything has to be rendered again: because sent entries have to
 * change, or because the frozen bytes hold thinking, which belongs to the epoch that ended. After a cut that changes
 * nothing before it, the bytes behind what is left are the ones its thinking was signed for, so it stays.
 */
function goOnFrom({ chain }: Conversation, { revoked, inline, rewrites, shown }: Changes): Chain | null {
  if (chain === null || rewrites || shown) return null;
  const samePrefix = !revoked && !inline;
  return (chain.cut && samePrefix) || chain.items.every((item) => item.markable) ? chain : null;
}

function opening(chain: Chain, base: Chain | null): ChainOpening {
  return {
    verdict: chain.verdict,
    revision: chain.revision,
    prefix: JSON.stringify(chain.prefix),
    marks: prefixMarks(chain.prefix),
    base: base === null ? null : { epoch: base.epoch, items: base.items.length },
  };
}

/** Where the frozen bytes are not what the last request sent. Only then does the session hand out what it marked. */
async function placeOfMismatch(setup: Setup, { chain }: Conversation, now: Frozen): Promise<string> {
  const before = await setup.marks();
  const place = before === null ? null : placeOf(before, marksOf(now));
  if (place !== null) return place;
  const missing = (chain?.last?.segments ?? 0) - segments(now).length;
  return missing > 0 ? `segments missing: ${missing}` : "unknown";
}

function verdictOf(
  { chain }: Conversation,
  cause: Cause | "first" | null,
  extendsLast: boolean,
  added: readonly Item[],
): Verdict {
  if (cause === "first") return { prefix: "first" };
  if (cause !== null) return { prefix: "break", cause };
  // The epoch was opened, but none of its requests was recorded: this one stands for the first.
  if (chain !== null && chain.last === null) return chain.verdict;
  if (!extendsLast) return { prefix: "break", cause: "unexpected" };
  const firstImage = added.some((item) => item.image) && !chain?.items.some((item) => item.image);
  return firstImage ? { prefix: "break", cause: "images" } : { prefix: "extends" };
}
