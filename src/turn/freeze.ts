import type { Catalog } from "../catalog/catalog.ts";
import { SEARCH_SPEC } from "../catalog/search.ts";
import type { Tool } from "../define/types.ts";
import type { Definition, Prefix } from "../providers/contract.ts";
import { SEARCH_TOOL, type ToolSpec } from "../values/tool.ts";
import type { Chain, Conversation } from "./conversation.ts";
import type { Setup } from "./setup.ts";

/** The prefix of a new epoch. Definitions and system text that were sent before stay as they were. */
export async function freeze(
  setup: Setup,
  conversation: Conversation,
  inline: readonly string[],
  specs: ReadonlyMap<string, ToolSpec>,
): Promise<Prefix> {
  const { agent, provider, model, settings, cacheKey } = setup;
  const { chain } = conversation;
  const revoked = chain !== null && agent.revision > chain.revision;
  const frozen = revoked ? null : chain;
  conversation.instructions ??= { text: await setup.instructions(), revision: agent.revision };
  return {
    settings: frozen?.prefix.settings ?? provider.settings(model, settings.epoch, cacheKey),
    tools: inline.map((name) => definitionOf(setup, frozen, name, false, specs)),
    system: frozen?.prefix.system ?? [
      ...provider.system(conversation.instructions.text),
      ...provider.system(conversation.clientSystem ?? ""),
    ],
    ttl: frozen?.prefix.ttl ?? settings.epoch.cacheTtl ?? "5m",
  };
}

/** A definition as first sent, if the chain has it; otherwise the live one, or a tombstone for a tool that is gone. */
export function definitionOf(
  setup: Setup,
  chain: Chain | null,
  name: string,
  deferred: boolean,
  specs: ReadonlyMap<string, ToolSpec>,
): Definition {
  const frozen = (deferred ? chain?.deferred : chain?.prefix.tools)?.find((definition) => definition.name === name);
  if (frozen !== undefined) return frozen;
  const gone: ToolSpec = { name, description: "No longer available.", inputSchema: { type: "object" } };
  return setup.provider.define(specs.get(name) ?? gone, deferred, setup.model);
}

export function specs(catalog: Catalog<Tool>): ReadonlyMap<string, ToolSpec> {
  return new Map([
    [SEARCH_TOOL, SEARCH_SPEC],
    ...[...catalog.byName].map(([name, tool]) => [name, tool.spec] as const),
  ]);
}
