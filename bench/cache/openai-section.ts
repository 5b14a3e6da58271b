import type { PromptUsage } from "../../test/emulators/openai/cache.ts";
import { percent, table, targets, thousands, times } from "../lib/markdown.ts";
import { sum } from "../lib/stats.ts";
import { chat, responses } from "./dialects.ts";
import type { Models } from "./models.ts";
import { converseOpenAI, type Dialect } from "./openai-client.ts";
import { allInline, clearedEachPrompt, declaredDeferred, movedInline, type Strategy } from "./strategies.ts";

/** As much of a recorded request as the tables need. */
interface Counted {
  readonly json: unknown;
  readonly status: number;
  readonly usage: PromptUsage | null;
  readonly idealCachedTokens: number;
}

interface Run {
  readonly name: string;
  readonly requests: readonly Counted[];
}

/** A table: a model, what its cache costs, and the conversation by each strategy. */
interface Comparison {
  readonly told: string;
  /** Price of a token that is written to the cache, against one that is neither written nor read. */
  readonly write: number;
  readonly runs: readonly Run[];
}

const READ = 0.1;

/** How Holdfast's own requests are found among all, by the model that they name. */
export const OPENAI_MODELS = {
  steps: "gpt-5.4",
  boundaries: "gpt-5.6-sol",
  chat: "acme-1",
  bridge: "acme-bridge",
} as const;

/** The conversation by each strategy on OpenAI's APIs, beside those that Holdfast held. */
export async function openaiRuns(
  { openai, chat: completions }: Models,
  own: { readonly openai: readonly Counted[]; readonly chat: readonly Counted[] },
): Promise<Comparison[]> {
  const ours = (requests: readonly Counted[], name: string) =>
    requests.filter(({ json }) => (json as { model: string }).model === name);
  const { steps, boundaries } = OPENAI_MODELS;
  const held = {
    steps: ours(own.openai, steps),
    boundaries: ours(own.openai, boundaries),
    chat: ours(own.chat, OPENAI_MODELS.chat),
    bridge: ours(own.chat, OPENAI_MODELS.bridge),
  };
  const others = async (
    emulator: Emulated,
    dialect: Dialect,
    model: string,
    strategies: readonly (() => Strategy)[],
  ) => {
    const runs: Run[] = [];
    for (const make of strategies) {
      emulator.reset();
      const strategy = make();
      await converseOpenAI(strategy, dialect, emulator.url, model);
      runs.push({ name: strategy.name, requests: [...emulator.requests] });
    }
    return runs;
  };
  const inlines = [allInline, clearedEachPrompt, movedInline];
  const run = (name: keyof typeof held): Run => ({ name: "**Holdfast**", requests: held[name] });
  return [
    {
      told: `\`${steps}\`: an implicit cache in steps of 128 tokens, whose writes cost nothing`,
      write: 1,
      runs: [run("steps"), ...(await others(openai, responses, steps, [...inlines, declaredDeferred]))],
    },
    {
      told: `\`${boundaries}\`: a cache at boundaries, whose writes cost a quarter more`,
      write: 1.25,
      runs: [run("boundaries"), ...(await others(openai, responses, boundaries, [...inlines, declaredDeferred]))],
    },
    {
      told: "Chat Completions of any endpoint, with an implicit cache in steps of 128 tokens",
      write: 1,
      runs: [
        { name: "**Holdfast**, bridge", requests: held.bridge },
        { name: "**Holdfast**, late tools inline", requests: held.chat },
        ...(await others(completions, chat, OPENAI_MODELS.chat, inlines)),
      ],
    },
  ];
}

interface Emulated {
  readonly url: string;
  readonly requests: readonly Counted[];
  reset(): void;
}

export function openaiReport(comparisons: readonly Comparison[]): string {
  const head = ["strategy", "requests", "refused", "tokens sent", "read from cache", "billed as", "against Holdfast"];
  const tables = comparisons.flatMap(({ told, write, runs }) => {
    const all = runs.map((run) => ({ name: run.name, ...figures(run.requests, write) }));
    const base = all[0]?.billed ?? 0;
    const rows = all.map(({ name, requests, refused, sent, read, billed }) => {
      return [name, requests, refused, thousands(sent), percent(read / sent), thousands(billed), times(billed / base)];
    });
    return [`${told}:`, "", table(head, rows), ""];
  });
  return [
    "The same conversation on OpenAI's APIs.",
    "",
    ...tables,
    "- declared deferred: all 124 in `tools`, the lazy ones with `defer_loading`, so that their names and descriptions stand",
    "  in front; a search is answered by the definitions it found.",
    "- A refused request named a tool that is no longer inline without its namespace (E-O13), and was made again with one.",
    "- Holdfast declares none of them, and loads by the same items; with the bridge it describes them in a search's result.",
    "",
    `A token that is read costs ${READ} here too; OpenAI counts gross, and the figures above are made net.`,
    "",
    targets(openaiTargets(comparisons)),
  ].join("\n");
}

function openaiTargets(comparisons: readonly Comparison[]) {
  const own = comparisons.flatMap(({ runs }) => runs.filter(({ name }) => name.startsWith("**")));
  const all = own.flatMap(({ requests }) => requests);
  const kept = own.filter(({ name }) => !name.includes("inline")).flatMap(({ requests }) => requests);
  const cacheable = kept.filter(({ idealCachedTokens }) => idealCachedTokens > 0);
  const full = cacheable.filter(({ usage, idealCachedTokens }) => cachedOf(usage) >= idealCachedTokens);
  const refused = all.filter(({ status }) => status !== 200);
  return [
    {
      what: "of what is cacheable, read in every request after an epoch's first (where tools need not go inline)",
      target: "100 %",
      figure: `${full.length} of ${cacheable.length} requests`,
      met: full.length === cacheable.length,
    },
    { what: "requests refused", target: "0", figure: `${refused.length} of ${all.length}`, met: refused.length === 0 },
  ];
}

function cachedOf(usage: PromptUsage | null): number {
  return usage?.input_tokens_details.cached_tokens ?? 0;
}

function figures(requests: readonly Counted[], write: number) {
  const usages = requests.flatMap(({ usage }) => usage ?? []);
  const sent = sum(usages.map(({ input_tokens }) => input_tokens));
  const read = sum(usages.map(cachedOf));
  const written = sum(usages.map(({ input_tokens_details }) => input_tokens_details.cache_write_tokens));
  const refused = requests.filter(({ status }) => status === 400).length;
  return {
    requests: requests.length,
    refused,
    sent,
    read,
    billed: sent - read - written + written * write + read * READ,
  };
}
