import type { Emulator, RecordedRequest } from "../../test/emulators/anthropic/index.ts";
import { percent, type Target, table, targets, thousands, times } from "../lib/markdown.ts";
import { median, sum } from "../lib/stats.ts";
import { converse, type Endpoint } from "./client.ts";
import { compactionsReport } from "./compactions-table.ts";
import { copiesTable, copiesTargets } from "./copies.ts";
import { type Copied, holdfastConverses } from "./holdfast.ts";
import { startModels } from "./models.ts";
import { openaiReport, openaiRuns } from "./openai-section.ts";
import {
  allInline,
  clearedEachPrompt,
  loadPointRewriting,
  movedInline,
  rebaselined,
  type Strategy,
} from "./strategies.ts";

/** Price of a token that is written to the cache, or read from it, against one that is neither. */
const PRICE = { write: 1.25, read: 0.1 } as const;

/** Simulated prefill: what a request waits for its first token, in seconds. */
const PREFILL = { base: 0.4, tokensPerSecond: 10_000, cachedPerSecond: 200_000 } as const;

/** One conversation's requests, as the emulator counted them. */
interface Run {
  readonly name: string;
  readonly told: string;
  readonly requests: readonly RecordedRequest[];
}

const STRATEGIES: readonly (() => Strategy)[] = [
  allInline,
  clearedEachPrompt,
  rebaselined,
  movedInline,
  loadPointRewriting,
];

export async function cacheSection(): Promise<string> {
  const models = await startModels();
  const emulator = models.anthropic;
  try {
    const held = await holdfastConverses(models);
    const ours = (name: string) => held.anthropic.filter(({ json }) => (json as { model: string }).model === name);
    const told = "frozen bytes, host searches, companions";
    const plain: Run[] = [{ name: "**Holdfast**", told, requests: ours("claude-sonnet-5") }];
    const bound: Run[] = [{ name: "**Holdfast**", told, requests: ours("claude-sonnet-5-5") }];
    const openai = await openaiRuns(models, held);
    for (const make of STRATEGIES) {
      plain.push(await run(emulator, make(), "claude-sonnet-5", false));
      bound.push(await run(emulator, make(), "claude-sonnet-5-5", true));
    }
    return [report(plain, bound, held.copies), openaiReport(openai), compactionsReport(held.compactions)].join("\n\n");
  } finally {
    await models.close();
  }
}

/** Runs a strategy on an emulator whose cache is empty. */
async function run(emulator: Emulator, strategy: Strategy, name: string, thinking: boolean): Promise<Run> {
  emulator.reset();
  const endpoint: Endpoint = { url: emulator.url, model: name, thinking };
  await converse(strategy, endpoint);
  return { name: strategy.name, told: strategy.told, requests: [...emulator.requests] };
}

function report(plain: readonly Run[], bound: readonly Run[], copies: readonly Copied[]): string {
  const [ours] = plain;
  const billed = (run: Run | undefined) => figures(run?.requests ?? []).billed;
  const rows = plain.map((run) => {
    const f = figures(run.requests);
    return [
      run.name,
      run.requests.length,
      thousands(f.sent),
      percent(f.read / f.sent),
      thousands(f.billed),
      times(f.billed / billed(ours)),
      `${f.firstToken.toFixed(2)} s`,
      `${f.waiting.toFixed(0)} s`,
    ];
  });
  const boundRows = bound.map((run) => {
    const f = figures(run.requests);
    const refused = run.requests.filter(({ status }) => status === 400);
    const why = [...new Set(refused.map(({ error }) => error?.rule ?? ""))].join(", ");
    return [
      run.name,
      run.requests.length,
      refused.length === 0 ? "0" : `${refused.length} (${why})`,
      percent(f.read / f.sent),
      thousands(f.billed),
    ];
  });
  return [
    "24 turns, 120 lazy tools of about 350 tokens each, four core tools, six loads, a late tool between turns 12 and 13,",
    "a fresh runtime for each turn. The same scripted model, search and emulator for all. `claude-sonnet-5`, no thinking:",
    "",
    table(
      [
        "strategy",
        "requests",
        "tokens sent",
        "read from cache",
        "billed as",
        "against Holdfast",
        "first token (median)",
        "waiting, whole conversation",
      ],
      rows,
    ),
    "",
    "The same on a model that binds thinking to its prefix (`claude-sonnet-5-5`, thinking on). A refused request (400) was",
    "made again without any thinking, as clients do:",
    "",
    table(["strategy", "requests", "refused", "read from cache", "billed as"], boundRows),
    "",
    ...plain.map(({ name, told }) => `- ${name}: ${told}.`),
    "",
    `*Billed as*: tokens at the price of one that is neither written nor read: written × ${PRICE.write}, read × ${PRICE.read}.`,
    `*First token*: simulated, ${PREFILL.base} s + tokens not read from the cache / ${thousands(PREFILL.tokensPerSecond)} per second +`,
    `tokens read / ${thousands(PREFILL.cachedPerSecond)} per second. The three constants are assumptions, not measurements. *Waiting* is`,
    "the sum over all requests. Cache figures are those of the emulator's simulation of the documented cache (tokens: a",
    "quarter of the bytes); every strategy places its markers as well as Holdfast does.",
    "",
    "Clones and forks of Holdfast's conversation, each in a fresh process: what the original's last request before the cut had",
    "in the cache, and what the copy's first request read of it. A fork from before its tools were loaded loses their load",
    "points and starts anew (`fork_reset`).",
    "",
    copiesTable(copies),
    "",
    targets([...cacheTargets(plain, bound), ...copiesTargets(copies)]),
  ].join("\n");
}

function cacheTargets(plain: readonly Run[], bound: readonly Run[]): Target[] {
  const all = [...(plain[0]?.requests ?? []), ...(bound[0]?.requests ?? [])];
  const cacheable = all.filter(({ idealCachedTokens }) => idealCachedTokens > 0);
  const short = cacheable.filter((one) => (one.usage?.cache_read_input_tokens ?? 0) < one.idealCachedTokens);
  const refused = all.filter(({ status }) => status !== 200);
  return [
    {
      what: "of what is cacheable, read in every request after an epoch's first",
      target: "100 %",
      figure: `${cacheable.length - short.length} of ${cacheable.length} requests`,
      met: short.length === 0,
    },
    { what: "requests refused", target: "0", figure: `${refused.length} of ${all.length}`, met: refused.length === 0 },
  ];
}

function figures(requests: readonly RecordedRequest[]) {
  const usages = requests.flatMap(({ usage }) => usage ?? []);
  const read = sum(usages.map((usage) => usage.cache_read_input_tokens));
  const written = sum(usages.map((usage) => usage.cache_creation_input_tokens));
  const plain = sum(usages.map((usage) => usage.input_tokens));
  const waits = usages.map((usage) => {
    const fresh = usage.input_tokens + usage.cache_creation_input_tokens;
    return PREFILL.base + fresh / PREFILL.tokensPerSecond + usage.cache_read_input_tokens / PREFILL.cachedPerSecond;
  });
  return {
    sent: read + written + plain,
    read,
    billed: plain + written * PRICE.write + read * PRICE.read,
    firstToken: median(waits),
    waiting: sum(waits),
  };
}
