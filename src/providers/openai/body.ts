import type { CallSettings } from "../../values/settings.ts";
import type { Item, ModelRequest } from "../contract.ts";
import { withBlobs } from "../with-blobs.ts";
import { isSearch } from "./form.ts";
import { modelFacts } from "./models.ts";

/** The API takes no smaller limit. */
const LEAST_OUTPUT = 16;

/**
 * The request's body, written by us byte for byte: epoch settings, this call's settings, tools, then system text and
 * conversation as one `input`. What is deferred is not in `tools`: its definitions stand where an item loads them.
 *
 * Models with explicit cache breakpoints get at most three, beside the implicit one: the last system text, and the
 * user messages where the chain's last answered request ended (the anchor) and where this one does.
 */
export function writeBody(request: ModelRequest): { body: string; end: number | null } {
  const { prefix, items, call } = request;
  const { breakpoints } = modelFacts(request.model);
  const end = breakpoints ? items.findLastIndex((item) => item.message) : -1;
  const marked = new Set([request.anchor, end]);
  const definitions = new Map(request.deferred.map(({ name, bytes }) => [name, bytes]));
  const system = prefix.system.map((bytes, index) =>
    breakpoints && index === prefix.system.length - 1 ? withBreakpoint(bytes) : bytes,
  );
  const input = items.map((item, index) =>
    breakpoints && item.message && marked.has(index) ? withBreakpoint(item.bytes) : loaded(item, definitions),
  );
  const fields = [prefix.settings, ...callFields(call), '"stream":true', ...toolFields(request)];
  const body = `{${fields.join(",")},"input":[${[...system, ...input].join(",")}]}`;
  return { body: withBlobs(body, request.blobs), end: end < 0 ? null : end };
}

function callFields({ maxOutputTokens, temperature, topP }: CallSettings): string[] {
  const fields = [`"max_output_tokens":${Math.max(LEAST_OUTPUT, maxOutputTokens)}`];
  if (temperature !== undefined) fields.push(`"temperature":${temperature}`);
  if (topP !== undefined) fields.push(`"top_p":${topP}`);
  return fields;
}

/**
 * The tools, and of them those that the mode allows: naming these does not touch the prefix. Whether tools that joined
 * later may be named is not known, and what is not named can't be called: once the mode allows one of them, only the
 * gate withholds the others.
 */
function toolFields({ prefix: { tools }, deferred, withheld }: ModelRequest): string[] {
  if (tools.length === 0) return [];
  const declared = `"tools":[${tools.map(({ bytes }) => bytes).join(",")}]`;
  const withheldInline = tools.some(({ name }) => withheld.includes(name));
  if (!withheldInline || deferred.some(({ name }) => !withheld.includes(name))) return [declared];
  const allowed = tools
    .filter(({ name }) => !withheld.includes(name))
    .map((tool) => (isSearch(tool) ? '{"type":"tool_search"}' : `{"type":"function","name":"${tool.name}"}`));
  if (allowed.length === 0) return [declared, '"tool_choice":"none"'];
  return [declared, `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[${allowed.join(",")}]}`];
}

/** The item with the definitions it loads, where its bytes have an empty list for them. */
function loaded({ bytes, loads }: Item, definitions: ReadonlyMap<string, string>): string {
  if (loads === undefined) return bytes;
  const deferred = bytes.startsWith('{"type":"tool_search_output"');
  const tools = loads.map((name) => {
    const definition = definitions.get(name);
    if (definition === undefined) throw new Error("an item loads a tool that the request does not declare");
    return deferred ? `${definition.slice(0, -1)},"defer_loading":true}` : definition;
  });
  return `${bytes.slice(0, -"]}".length)}${tools.join(",")}]}`;
}

/** A message whose last part ends a reusable prefix. */
function withBreakpoint(message: string): string {
  return `${message.slice(0, -"}]}".length)},"prompt_cache_breakpoint":{"mode":"explicit"}}]}`;
}
