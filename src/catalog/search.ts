import { SEARCH_TOOL, type ToolSpec } from "../values/tool.ts";
import type { Catalog } from "./catalog.ts";

const MOST_A_CALL = 5;
const LONGEST_QUERY = 500;
const MOST_NAMES_LISTED = 24;

/** The search tool as models see it. It never lists the catalog: its bytes stay the same while the catalog grows. */
export const SEARCH_SPEC: ToolSpec = {
  name: SEARCH_TOOL,
  description:
    "Finds further tools and loads them; you can call them from your next step on. Use it whenever a task needs " +
    "something that none of your present tools does. Ask with a few words on what the tool should do, or with the " +
    "exact names of up to five tools.",
  inputSchema: {
    type: "object",
    properties: {
      query: {
        type: "string",
        minLength: 1,
        maxLength: LONGEST_QUERY,
        description: "What the tool should do, in a few words, or exact tool names separated by commas.",
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: MOST_A_CALL,
        description: `Load at most so many tools. Default ${MOST_A_CALL}.`,
      },
    },
    required: ["query"],
    additionalProperties: false,
  },
};

/** What a search came to. `addedToolNames` is the complete list it resolved, tools that were active included. */
export interface SearchResult {
  readonly status: "ok" | "error";
  readonly text: string;
  readonly addedToolNames: readonly string[];
}

/** The fixed line that says which tools a search loaded. It follows from the names alone (design §3.4). */
export function loadedLine(names: readonly string[]): string {
  return `Loaded: ${names.join(", ")}. Call them from now on.`;
}

/**
 * Runs the search tool. Exact names come first, in any letter case; a query that consists of names loads just those.
 * Anything else is ranked, and weak matches are left out. A tool that the mode forbids is never found. Whatever the
 * model sends as input gets an answer; nothing is thrown.
 */
export function searchTools(catalog: Catalog, active: ReadonlySet<string>, input: unknown): SearchResult {
  const query = field(input, "query");
  if (typeof query !== "string" || query.trim() === "") {
    return failed("query must be a text that is not empty: words on what the tool should do, or exact tool names.");
  }
  if (query.length > LONGEST_QUERY) return failed(`query is longer than ${LONGEST_QUERY} characters.`);
  const limit = limitOf(field(input, "limit"));

  const named = exactNames(catalog, query);
  const core = named?.names.filter((name) => !catalog.byName.get(name)?.lazy) ?? [];
  const lazy = named
    ? named.names.filter((name) => catalog.byName.get(name)?.lazy)
    : catalog.index.search(query, (name) => catalog.allowed(name) && catalog.byName.get(name)?.lazy !== false);
  const resolved = lazy.slice(0, limit);
  const added = resolved.filter((name) => !active.has(name));
  const known = resolved.filter((name) => active.has(name));
  const left = named ? lazy.slice(limit) : [];

  const lines: string[] = [];
  if (added.length > 0) lines.push(loadedLine(added));
  if (known.length > 0) lines.push(`Already loaded: ${known.join(", ")}. Call them now.`);
  if (core.length > 0) lines.push(`Always available, no need to load: ${core.join(", ")}. Call them now.`);
  if (left.length > 0) lines.push(`Not loaded, at most ${limit} a call: ${left.join(", ")}.`);
  if (named && named.unknown.length > 0) lines.push(`There is no tool named ${named.unknown.join(" or ")}.`);
  if (lines.length === 0) lines.push(nothingFound(catalog, active));
  return { status: "ok", text: lines.join("\n"), addedToolNames: resolved };
}

/** The tools a query names, if it consists of names and at least one of them is there; otherwise null. */
function exactNames(catalog: Catalog, query: string): { names: string[]; unknown: string[] } | null {
  const here = [...catalog.core, ...catalog.lazy].map((tool) => tool.spec.name);
  const registered = new Map<string, string>();
  for (const name of here) if (!registered.has(name.toLowerCase())) registered.set(name.toLowerCase(), name);
  const allowed = new Set(here);
  const resolve = (word: string) => (allowed.has(word) ? word : registered.get(word.toLowerCase()));

  const parts = query.split(/[\s,;|"'`]+/).filter((part) => part !== "");
  const names = new Set<string>();
  const unknown = new Set<string>();
  for (const part of parts) {
    const name = resolve(part);
    if (name !== undefined) names.add(name);
    // A plain word makes the query a description; something that is spelled like a name is a name we don't have.
    else if (/[A-Za-z0-9][_-]/.test(part)) unknown.add(part);
    else return joinedName(parts, resolve);
  }
  return names.size > 0 ? { names: [...names], unknown: [...unknown] } : null;
}

/** "convert units" for `convert_units`. */
function joinedName(parts: readonly string[], resolve: (word: string) => string | undefined) {
  const name = resolve(parts.join("_")) ?? resolve(parts.join("-")) ?? resolve(parts.join(""));
  return name === undefined ? null : { names: [name], unknown: [] };
}

function nothingFound(catalog: Catalog, active: ReadonlySet<string>): string {
  const names = catalog.lazy.map((tool) => tool.spec.name).filter((name) => !active.has(name));
  if (names.length === 0) return "Nothing found. There are no further tools to load.";
  const listed = names.slice(0, MOST_NAMES_LISTED).join(", ");
  const more = names.length - MOST_NAMES_LISTED;
  return `Nothing found, nothing loaded. There are: ${listed}${more > 0 ? ` and ${more} more` : ""}.`;
}

function limitOf(limit: unknown): number {
  if (typeof limit !== "number" || !Number.isFinite(limit)) return MOST_A_CALL;
  return Math.min(MOST_A_CALL, Math.max(1, Math.floor(limit)));
}

function field(input: unknown, name: "query" | "limit"): unknown {
  if (typeof input !== "object" || input === null) return undefined;
  return new Map(Object.entries(input)).get(name);
}

function failed(problem: string): SearchResult {
  return { status: "error", text: problem, addedToolNames: [] };
}
