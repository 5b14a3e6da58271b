import type { JsonSchema } from "../define/json-schema.ts";
import type { Tool } from "../define/types.ts";
import type { Chain } from "./conversation.ts";
import type { Setup } from "./setup.ts";

/**
 * The schema by which the model was told to call a tool, where a deploy has changed it since: an input is checked against
 * it first (design §3.5). Null where the two are the same, and where the model was told the deployed one too, by the
 * result of a call that did not match: from then on that one counts alone.
 */
export function frozenSchema({ provider, model }: Setup, chain: Chain | null, { spec }: Tool): JsonSchema | null {
  if (chain === null) return null;
  const inline = chain.prefix.tools.find(({ name }) => name === spec.name);
  const frozen = inline ?? chain.deferred.find(({ name }) => name === spec.name);
  if (frozen === undefined) return null;
  if (frozen.bytes === provider.define(spec, inline === undefined, model).bytes) return null;
  const schema = provider.schema(frozen);
  const deployed = JSON.stringify(spec.inputSchema);
  if (JSON.stringify(schema) === deployed) return null;
  const told = JSON.stringify(schemaLine(spec.inputSchema)).slice(1, -1);
  return chain.items.some(({ bytes }) => bytes.includes(told)) ? null : schema;
}

/** How the result of a call that does not match tells the model a tool's schema. */
export function schemaLine(schema: JsonSchema): string {
  return `The tool's schema: ${JSON.stringify(schema)}`;
}
