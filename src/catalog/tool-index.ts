import MiniSearch from "minisearch";
import type { ToolSpec } from "../values/tool.ts";
import { words } from "./words.ts";

/** Words that say nothing about what a tool does. Only queries lose them. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  words(
    "a an and any are as at be between by can could do does for from get give have help how i in into is it its " +
      "let like make many me much my need of on or out please should some something that the them then there these " +
      "thing this to tool tools use used using want was what when which will with would you your",
  ),
);

const LATIN = /^[\p{Script=Latin}\p{N}]/u;
/** Below this many tools the rarity of a word says little: it is judged as if there were so many. */
const SMALL = 50;
/** Share of what was asked that a tool has to answer, with a word of the query in its name and without. */
const ENOUGH_WITH_NAME = 0.25;
const ENOUGH = 0.5;
/** Share of the best hit's score below which a hit is noise. */
const RELATIVE = 0.45;
/** Share of a catalog's tools above which a word tells them apart no more, and costs time; not in small catalogs. */
const COMMON = 0.25;

interface Document {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly parameters: string;
}

interface Searchable {
  readonly spec: ToolSpec;
  readonly lazy: boolean;
}

/** BM25+ over names, descriptions and parameter names of the lazy tools. Built when first searched. */
export class ToolIndex {
  readonly #tools: readonly Searchable[];
  #built: { readonly index: MiniSearch<Document>; readonly counts: ReadonlyMap<string, number> } | null = null;

  constructor(tools: readonly Searchable[]) {
    this.#tools = tools.filter((tool) => tool.lazy);
  }

  /** Names of the tools that answer a query well enough, best first, of equals the earlier in the catalog first. */
  search(query: string, allowed: (name: string) => boolean): string[] {
    this.#built ??= build(this.#tools);
    const { index, counts } = this.#built;
    const tools = this.#tools.length;
    const asked = askedWords(query).filter((word) => (counts.get(word) ?? 0) <= Math.max(SMALL, tools * COMMON));
    if (asked.length === 0) return [];
    const name = (id: unknown) => this.#tools[Number(id)]?.spec.name ?? "";
    const hits = index.search(asked.join(" "), {
      filter: (hit) => allowed(name(hit.id)),
      tokenize: (text) => text.split(" "),
      // A word that the catalog knows is meant; only an unknown one may stand for what begins or looks like it.
      prefix: (word) => !counts.has(word) && (word.length > 3 || !LATIN.test(word)),
      fuzzy: (word) => (!counts.has(word) && word.length > 5 ? 1 : false),
    });
    const found = new Map<string, number>();
    for (const hit of hits) for (const word of hit.queryTerms) found.set(word, (found.get(word) ?? 0) + 1);
    const weight = (word: string) => rarity(counts.get(word) ?? found.get(word) ?? 0, tools);
    const total = sum(asked.map((word) => (found.has(word) ? 1 : missingCounts(word)) * weight(word)));
    const good = hits.filter((hit) => {
      const share = sum(hit.queryTerms.map(weight)) / total;
      const named = Object.values(hit.match).some((fields) => fields.includes("name"));
      return named ? share >= ENOUGH_WITH_NAME : share > ENOUGH;
    });
    const best = good.reduce((most, hit) => Math.max(most, hit.score), 0);
    return good
      .filter((hit) => hit.score >= best * RELATIVE)
      .sort((a, b) => b.score - a.score || Number(a.id) - Number(b.id))
      .map((hit) => name(hit.id));
  }
}

function build(tools: readonly Searchable[]) {
  const index = new MiniSearch<Document>({
    fields: ["name", "description", "parameters"],
    tokenize: words,
    processTerm: (term) => term,
    searchOptions: { boost: { name: 3, parameters: 0.5 }, weights: { prefix: 0.4, fuzzy: 0.3 } },
  });
  const counts = new Map<string, number>();
  for (const [id, { spec }] of tools.entries()) {
    const texts = textsOf(spec);
    index.add({ id, ...texts });
    const all = new Set(words(`${texts.name} ${texts.description} ${texts.parameters}`));
    for (const word of all) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return { index, counts };
}

function askedWords(query: string): string[] {
  return [...new Set(words(query))].filter((word) => !STOP_WORDS.has(word) && !/^[a-z]$/.test(word));
}

/** How much it counts against a tool that no tool has this word of the question. */
function missingCounts(word: string): number {
  // A number is mostly something to work on; of pairs of characters those across two words are in no text.
  if (/^\p{N}+$/u.test(word)) return 0;
  return LATIN.test(word) ? 1 : 0.5;
}

function textsOf(spec: ToolSpec): Omit<Document, "id"> {
  const properties = spec.inputSchema.properties;
  const parameters = typeof properties === "object" && properties !== null ? Object.keys(properties).join(" ") : "";
  return { name: spec.name, description: spec.description, parameters };
}

function rarity(found: number, tools: number): number {
  const inSmall = found * Math.min(1, SMALL / Math.max(tools, 1));
  return Math.log(1 + SMALL / (inSmall + 0.5));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
