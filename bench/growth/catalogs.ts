import { toolCatalog } from "../../src/catalog/catalog.ts";
import { searchTools } from "../../src/catalog/search.ts";
import { ToolIndex } from "../../src/catalog/tool-index.ts";
import { median } from "../lib/stats.ts";
import { catalogOf } from "./tools.ts";

/** What looking for a tool takes in a catalog, in ms. */
export interface SearchTimes {
  readonly tools: number;
  /** The first search, which builds the index. */
  readonly cold: number;
  /** A search by words, and one by a name. */
  readonly warm: number;
  readonly named: number;
  /** What every request does: the catalog seen in a mode. */
  readonly catalog: number;
}

const QUERIES = [
  "find an event by its attendees",
  "create a ticket with a severity",
  "export an invoice as a file",
  "roll back a release",
  "search messages in a channel",
  "how many metrics are there by region",
  "book a flight to Lisbon",
  "share a wiki page with somebody outside",
];
const ROUNDS = 25;

export function searchTimes(count: number): SearchTimes {
  const tools = catalogOf(count).map((spec) => ({ spec, risk: "read", lazy: true }) as const);
  const last = tools.at(-1)?.spec.name ?? "";
  const source = () => ({ tools, modes: {}, index: new ToolIndex(tools) });
  const look = (catalog: ReturnType<typeof toolCatalog>, query: string) =>
    timed(() => searchTools(catalog, new Set(), { query }));
  const colds = Array.from({ length: 3 }, () => look(toolCatalog(source(), "agent"), QUERIES[0] ?? ""));
  const kept = source();
  const catalog = toolCatalog(kept, "agent");
  look(catalog, "warm up");
  const rounds = Array.from({ length: ROUNDS }, (_, index) => index);
  return {
    tools: count,
    cold: median(colds),
    warm: median(rounds.flatMap(() => QUERIES.map((query) => look(catalog, query)))),
    named: median(rounds.map(() => look(catalog, last))),
    catalog: median(rounds.map(() => timed(() => toolCatalog(kept, "agent")))),
  };
}

function timed(work: () => unknown): number {
  const since = performance.now();
  work();
  return performance.now() - since;
}
