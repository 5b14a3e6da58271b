import { placedBlocks, toolsOf } from "../content.ts";
import { invalid } from "../failure.ts";
import type { Block } from "../schema/blocks.ts";
import type { CacheControl } from "../schema/parts.ts";
import type { AnyRequest } from "../schema/request.ts";
import type { Rule } from "./rule.ts";

/** One `cache_control`: where it stands and what it asks. */
export interface Marker {
  readonly path: string;
  readonly ttl: "5m" | "1h";
  /** The marked block is a text without any character. */
  readonly onEmptyText: boolean;
}

/** The most markers of one request. */
export const MAX_MARKERS = 4;

/** Every marker of a request in the order in which they are processed: tools, system, messages, the request itself. */
export function* markers(body: AnyRequest): Generator<Marker> {
  for (const [index, tool] of toolsOf(body).entries()) {
    if (tool.cache_control) yield marker(`tools.${index}`, tool.cache_control);
  }
  for (const [index, block] of (Array.isArray(body.system) ? body.system : []).entries()) {
    if (block.cache_control) yield marker(`system.${index}`, block.cache_control, block.text === "");
  }
  for (const { block, path } of placedBlocks(body.messages)) {
    for (const nested of nestedMarkers(block)) yield marker(`${path}.${nested.path}`, nested.control, nested.empty);
    if ("cache_control" in block && block.cache_control) {
      const tagged = block.type === "text" && block.text === "" ? `${path}.text` : path;
      yield marker(tagged, block.cache_control, block.type === "text" && block.text === "");
    }
  }
  if (body.cache_control) yield marker("", body.cache_control);
}

function marker(path: string, control: CacheControl, onEmptyText = false): Marker {
  return { path, ttl: control.ttl ?? "5m", onEmptyText };
}

interface Nested {
  readonly path: string;
  readonly control: CacheControl;
  readonly empty: boolean;
}

function* nestedMarkers(block: Block): Generator<Nested> {
  if (block.type === "tool_result" && Array.isArray(block.content)) {
    for (const [index, part] of block.content.entries()) {
      if (!part.cache_control) continue;
      const empty = part.type === "text" && part.text === "";
      yield { path: `content.${index}`, control: part.cache_control, empty };
    }
  } else if (block.type === "tool_search_tool_result" && "tool_references" in block.content) {
    for (const [index, part] of block.content.tool_references.entries()) {
      if (part.cache_control)
        yield { path: `content.tool_references.${index}`, control: part.cache_control, empty: false };
    }
  } else if (block.type === "tool_addition" && block.tool.type === "tool_definition") {
    const control = block.tool.definition.cache_control;
    if (control) yield { path: "tool.definition", control, empty: false };
  }
}

/** E-A14: at most four markers, longer TTLs first, none on an empty text. */
export const cacheMarkers: Rule = ({ body }) => {
  const found = [...markers(body)];
  const empty = found.find((candidate) => candidate.onEmptyText);
  if (empty !== undefined) {
    return invalid("E-A14", `${empty.path}: cache_control cannot be set for empty text blocks`);
  }
  if (found.length > MAX_MARKERS) {
    return invalid(
      "E-A14",
      `A maximum of ${MAX_MARKERS} blocks with cache_control may be provided. Found ${found.length}.`,
    );
  }
  const short = found.findIndex((candidate) => candidate.ttl === "5m");
  const late = found.find((candidate, index) => short !== -1 && index > short && candidate.ttl === "1h");
  if (late === undefined) return null;
  const at = late.path === "" ? "cache_control.ttl" : `${late.path}.cache_control.ttl`;
  return invalid(
    "E-A14",
    `${at}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
  );
};
