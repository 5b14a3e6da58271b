import type { Numbered, ToolResult } from "../values/entry.ts";
import { SEARCH_TOOL } from "../values/tool.ts";
import type { Catalog } from "./catalog.ts";

/** A tool that a successful result speaks for, and the entry of its first such result. */
export interface Evidence {
  readonly name: string;
  readonly seq: number;
}

/** Lazy tools by what the evidence makes of them now, each in the order of first evidence. */
export interface Activation {
  /** May be called. */
  readonly active: readonly string[];
  /** Not in the catalog right now; tried again whenever the catalog has grown. */
  readonly pending: readonly string[];
  /** Withheld by the mode; back with another mode. */
  readonly forbidden: readonly string[];
}

const MOST_NAMES = 64;
const LONGEST_NAME = 64;

/**
 * Which tools the entries of an effective, repaired context speak for (design §3.3). Only what the runtime itself
 * recorded as done is evidence: a successful result of the search tool for the names it resolved, of any other tool
 * for that tool, a host search for its names, and a compaction for those it carried over. Texts, summaries included,
 * failed calls and whatever a client brought never are.
 */
export function collectEvidence(entries: readonly Numbered[]): Evidence[] {
  const first = new Map<string, number>();
  for (const { seq, entry } of entries) {
    if (entry.origin !== "runtime") continue;
    for (const name of namesIn(entry)) if (!first.has(name)) first.set(name, seq);
  }
  return [...first].map(([name, seq]) => ({ name, seq }));
}

/** Evidence of a context that has grown: what is known keeps its place, what is new follows. */
export function mergeEvidence(known: readonly Evidence[], more: readonly Evidence[]): Evidence[] {
  const names = new Set(known.map(({ name }) => name));
  return [...known, ...more.filter(({ name }) => !names.has(name))];
}

/** The active set: pure, the same for the same evidence and catalog, in the order of first evidence. */
export function deriveActive({ evidence, catalog }: { evidence: readonly Evidence[]; catalog: Catalog }): Activation {
  const active: string[] = [];
  const pending: string[] = [];
  const forbidden: string[] = [];
  for (const name of new Set(evidence.map((item) => item.name))) {
    const tool = catalog.byName.get(name);
    if (name === SEARCH_TOOL || tool?.lazy === false) continue;
    (tool === undefined ? pending : catalog.allowed(name) ? active : forbidden).push(name);
  }
  return { active, pending, forbidden };
}

function namesIn(entry: Numbered["entry"]): string[] {
  switch (entry.kind) {
    case "results":
      return entry.results.filter((result) => result.status === "ok").flatMap(namesOf);
    case "host_search":
      return cleanNames(entry.names);
    case "compaction":
      return cleanNames(entry.carriedToolNames, Number.POSITIVE_INFINITY);
    case "user":
    case "assistant":
    case "rewind":
    case "system_update":
    case "pause":
    case "pause_answer":
    case "mode_change":
      return [];
  }
}

function namesOf(result: ToolResult): string[] {
  return result.name === SEARCH_TOOL ? cleanNames(result.details?.addedToolNames) : [result.name];
}

/** Stored text is not trusted to have the shape its type says: anything but a list of names is no name at all. */
function cleanNames(value: unknown, most = MOST_NAMES): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, most)
    .flatMap((name: unknown) => (typeof name === "string" ? [name.trim()] : []))
    .filter((name) => name !== "" && name.length <= LONGEST_NAME);
}
