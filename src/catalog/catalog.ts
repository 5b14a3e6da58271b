import { type Risk, SEARCH_TOOL, type ToolSpec } from "../values/tool.ts";
import { matchesPattern } from "./pattern.ts";
import { ToolIndex } from "./tool-index.ts";

/** The mode of all tools, which every agent has. */
export const AGENT_MODE = "agent";

/** A tool as the catalog sees it. */
export interface CatalogTool {
  readonly spec: ToolSpec;
  readonly risk: Risk;
  readonly lazy: boolean;
}

/** What a catalog is made of; an agent is one. */
export interface CatalogSource<T extends CatalogTool = CatalogTool> {
  readonly tools: readonly T[];
  readonly modes: Readonly<Record<string, { readonly allow: readonly string[] }>>;
  /** Search index over `tools`, where one is kept from turn to turn. */
  readonly index?: ToolIndex;
}

/** The tools of an agent, seen in one mode. */
export interface Catalog<T extends CatalogTool = CatalogTool> {
  readonly mode: string;
  /** Core tools that the mode allows, in the agent's order. */
  readonly core: readonly T[];
  /** Lazy tools that the mode allows, in the agent's order. */
  readonly lazy: readonly T[];
  /** Whether the agent has lazy tools, in whatever mode: that decides about the search tool, so no mode changes it. */
  readonly hasLazy: boolean;
  /** Every tool by name, those that the mode forbids included. */
  readonly byName: ReadonlyMap<string, T>;
  readonly index: ToolIndex;
  /** Whether the mode lets a tool of this name be called. The search tool always may. */
  allowed(name: string): boolean;
}

/**
 * The catalog of an agent in a mode. A mode that the agent does not have (a deploy withdrew it) allows nothing but the
 * search tool: what the mode used to withhold is never handed out by accident.
 */
export function toolCatalog<T extends CatalogTool>(source: CatalogSource<T>, mode: string): Catalog<T> {
  const patterns = allowList(source, mode);
  const allowed = (name: string) =>
    name === SEARCH_TOOL || patterns === null || patterns.some((pattern) => matchesPattern(pattern, name));
  const here = source.tools.filter((tool) => allowed(tool.spec.name));
  return {
    mode,
    core: here.filter((tool) => !tool.lazy),
    lazy: here.filter((tool) => tool.lazy),
    hasLazy: source.tools.some((tool) => tool.lazy),
    byName: new Map(source.tools.map((tool) => [tool.spec.name, tool])),
    index: source.index ?? new ToolIndex(source.tools),
    allowed,
  };
}

function allowList(source: CatalogSource, mode: string): readonly string[] | null {
  if (mode === AGENT_MODE) return null;
  return Object.hasOwn(source.modes, mode) ? (source.modes[mode]?.allow ?? []) : [];
}
