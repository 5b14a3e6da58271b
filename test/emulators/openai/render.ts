import { elements, member, skipSpace } from "../common/raw-json.ts";
import { loadedNames } from "./availability.ts";
import { functionsOf, isDeferred, toolsOf } from "./content.ts";
import type { Model } from "./models.ts";
import type { Item } from "./schema/items.ts";
import type { AnyRequest } from "./schema/request.ts";
import type { Tool } from "./schema/tools.ts";
import type { RequestSource } from "./source.ts";

/** A piece of the prompt as the provider reads it, in its order. */
export interface RenderedBlock {
  /** Where it stands in the request. */
  readonly path: string;
  readonly bytes: string;
  /** An estimate: a quarter of the bytes. */
  readonly tokens: number;
  /** An explicit cache boundary behind this block. */
  readonly explicit: boolean;
  /** A message or a group of outputs ends here, where a boundary can be without being asked for. */
  readonly ending: boolean;
}

/** Whether the hidden text about tool search stands in front while something is deferred and not loaded. */
export type Preamble = "pessimistic" | "none";

/** About what recordings show: 250 to 300 tokens. */
const PREAMBLE = "How to search for tools that are not loaded yet. ".repeat(24).slice(0, 4 * 280);

/** Lays out the prompt: hidden text, tools, instructions, items. `items` may begin with those of a stored response. */
export function renderPrompt(
  body: AnyRequest,
  source: RequestSource,
  earlier: readonly string[],
  model: Model,
  preamble: Preamble,
): RenderedBlock[] {
  const blocks: RenderedBlock[] = [];
  const push = (path: string, bytes: string, more: { explicit?: boolean; ending?: boolean } = {}) => {
    const { explicit = false, ending = false } = more;
    blocks.push({ path, bytes, tokens: Math.ceil(Buffer.byteLength(bytes) / 4), explicit, ending });
  };
  if (preamble === "pessimistic" && withholdsTools(body, model)) push("preamble", PREAMBLE);
  const tools = toolsOf(body);
  for (const [index, tool] of tools.entries()) push(`tools[${index}]`, shown(tool, source.tools[index] ?? "", model));
  if (source.instructions !== "") push("instructions", source.instructions);
  for (const [index, bytes] of earlier.entries()) push(`earlier[${index}]`, bytes);
  const { input } = body;
  const items: readonly Item[] = Array.isArray(input) ? input : [];
  for (const [index, bytes] of source.items.entries()) {
    const item = items[index];
    const ending = item === undefined || endsGroup(item, items[index + 1], items.slice(0, index));
    const parts = item === undefined ? [] : marked(item, bytes);
    if (parts.length === 0) push(`input[${index}]`, bytes, { ending });
    for (const [position, part] of parts.entries()) {
      const last = position === parts.length - 1;
      push(`input[${index}].content[${position}]`, part.bytes, { explicit: part.explicit, ending: last && ending });
    }
  }
  return blocks;
}

/** Something is deferred that no item has loaded. */
function withholdsTools(body: AnyRequest, model: Model): boolean {
  if (!model.toolSearch) return false;
  const loaded = loadedNames(body, model);
  return functionsOf(toolsOf(body)).some(({ tool }) => tool.defer_loading === true && !loaded.has(tool.name));
}

/** What the model is shown of a tool: of a deferred function its name and description, of a namespace's its own. */
function shown(tool: Tool, bytes: string, model: Model): string {
  if (!model.toolSearch || !isDeferred(tool)) return bytes;
  if (tool.type === "namespace") {
    const inline = tool.tools.filter((inner) => inner.defer_loading !== true);
    return JSON.stringify([tool.name, tool.description, inline]);
  }
  return "name" in tool ? JSON.stringify([tool.name, "description" in tool ? tool.description : null]) : bytes;
}

/** A message of the user, the last output of a group, or the last developer message in front of everything else. */
function endsGroup(item: Item, next: Item | undefined, before: readonly Item[]): boolean {
  if (item.type === "function_call_output") return next?.type !== "function_call_output";
  if (item.type !== "message") return false;
  if (item.role === "user") return true;
  return isDeveloper(item) && before.every(isDeveloper) && (next === undefined || !isDeveloper(next));
}

function isDeveloper(item: Item): boolean {
  return item.type === "message" && (item.role === "developer" || item.role === "system");
}

/** The parts of an item in which an explicit boundary stands, each with its bytes. Empty where there is none. */
function marked(item: Item, bytes: string): { readonly bytes: string; readonly explicit: boolean }[] {
  const key = "content" in item ? "content" : "output";
  const content: unknown = Reflect.get(item, key);
  if (!Array.isArray(content)) return [];
  const explicit = content.map((part) => Boolean(part.prompt_cache_breakpoint));
  const list = member(bytes, skipSpace(bytes, 0), key);
  if (list === undefined || content.length === 0) return [];
  // What stands around the parts goes with the first one, so that each byte counts once.
  const spans = elements(bytes, list.start);
  const rest = bytes.slice(0, list.start) + bytes.slice(list.end);
  return spans.map(({ start, end }, index) => ({
    bytes: `${index === 0 ? rest : ""}${bytes.slice(start, end)}`,
    explicit: explicit[index] === true,
  }));
}
