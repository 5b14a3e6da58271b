import { ENTER_PLAN_TOOL, PLAN_MODE, type Risk, SEARCH_TOOL, SUBMIT_PLAN_TOOL, type ToolSpec } from "../values/tool.ts";
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

/** What a mode allows, and which lazy tools it makes core, by name patterns. */
export interface CatalogMode {
  readonly allow: readonly string[];
  readonly core?: readonly string[];
}

/** What a catalog is made of; an agent is one. */
export interface CatalogSource<T extends CatalogTool = CatalogTool> {
  readonly tools: readonly T[];
  readonly modes: Readonly<Record<string, CatalogMode>>;
  /** Search index over `tools`, where one is kept from turn to turn. */
  readonly index?: ToolIndex;
}

/** The tools of an agent, seen in one mode. */
export interface Catalog<T extends CatalogTool = CatalogTool> {
  readonly mode: string;
  /** Core tools that the mode allows, those that it makes core included, in the agent's order. */
  readonly core: readonly T[];
  /** Lazy tools that the mode allows, in the agent's order. */
  readonly lazy: readonly T[];
  /** Whether the agent has lazy tools, in whatever mode: that decides about the search tool, so no mode changes it. */
  readonly hasLazy: boolean;
  /** Every tool by name, those that the mode forbids included; lazy or not as in this mode. */
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
  const allowed = allowedIn(source, mode);
  const promoted = source.modes[mode]?.core ?? [];
  const tools = promoted.length === 0 ? source.tools : source.tools.map((tool) => inMode(tool, promoted));
  const here = tools.filter((tool) => allowed(tool.spec.name));
  return {
    mode,
    core: here.filter((tool) => !tool.lazy),
    lazy: here.filter((tool) => tool.lazy),
    hasLazy: source.tools.some((tool) => tool.lazy),
    byName: new Map(tools.map((tool) => [tool.spec.name, tool])),
    index: source.index ?? new ToolIndex(source.tools),
    allowed,
  };
}

function inMode<T extends CatalogTool>(tool: T, promoted: readonly string[]): T {
  const core = tool.lazy && promoted.some((pattern) => matchesPattern(pattern, tool.spec.name));
  return core ? { ...tool, lazy: false } : tool;
}

/**
 * Asks nothing but the name, so that a tool which a deploy removed is allowed or not as it was before. Plan mode can be
 * entered from any mode that allows it; to submit a plan belongs to plan mode alone.
 */
function allowedIn(source: CatalogSource, mode: string): (name: string) => boolean {
  const patterns = allowList(source, mode);
  const matches = (name: string) => patterns === null || patterns.some((pattern) => matchesPattern(pattern, name));
  return (name) => {
    switch (name) {
      case SEARCH_TOOL:
        return true;
      case ENTER_PLAN_TOOL:
        return mode !== PLAN_MODE && matches(name);
      case SUBMIT_PLAN_TOOL:
        return mode === PLAN_MODE && Object.hasOwn(source.modes, mode);
      default:
        return matches(name);
    }
  };
}

function allowList(source: CatalogSource, mode: string): readonly string[] | null {
  if (mode === AGENT_MODE) return null;
  return Object.hasOwn(source.modes, mode) ? (source.modes[mode]?.allow ?? []) : [];
}
