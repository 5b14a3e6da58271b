import { percent, type Target, table, targets, thousands } from "../lib/markdown.ts";
import { sum } from "../lib/stats.ts";
import { COMPACTED, type Compacted, type Took, type Way } from "./compactions.ts";

const READ = 0.1;
const TOLD: Readonly<Record<Way, string>> = {
  ours: "**Holdfast**",
  provider: "**Holdfast**, OpenAI's own",
  apart: "summary asked for apart",
  whole: "not compacted",
};

export function compactionsReport(compactions: readonly Compacted[]): string {
  return [
    "Compactions of these conversations after their 24th turn, then four turns more, in a fresh process. Beside Holdfast's,",
    "whose request for a summary extends the conversation's last one: the same with a summary that is asked for apart (what",
    "was said and done as one text, with neither tools nor instructions), and the same turns without any compaction.",
    "",
    compactionsTable(compactions),
    "",
    "- *asked with*: tokens of the requests that compact it; OpenAI's own takes two, the summary that stands beside its item",
    "  and the item. What they answer is not in the figures.",
    "- A conversation this short does not need it: a compaction is for the window, which 24 turns are far from filling.",
    "  *The last of them* is about what each further turn costs.",
    "",
    targets(compactionsTargets(compactions)),
  ].join("\n");
}

/** What it took to compact a conversation, and what its next turns took then. */
function compactionsTable(compactions: readonly Compacted[]): string {
  const rows = Object.entries(COMPACTED).flatMap(([agent, model]) =>
    (["ours", "provider", "apart", "whole"] as const).flatMap((way) =>
      compactions
        .filter((one) => one.agent === agent && one.way === way)
        .map((one) => [
          `\`${model}\`, ${TOLD[way]}`,
          ...(one.asked.length === 0
            ? ["–", "–", "–"]
            : [
                thousands(sum(one.asked.map(({ sent }) => sent))),
                percent(sum(one.asked.map(({ read }) => read)) / sum(one.asked.map(({ sent }) => sent))),
                thousands(billed(one, one.asked)),
              ]),
          thousands(one.after[0]?.sent ?? 0),
          percent((one.after[1]?.read ?? 0) / (one.after[0]?.cached ?? 1)),
          thousands(billed(one, one.after)),
          thousands(billed(one, one.after.slice(-1))),
        ]),
    ),
  );
  const head = [
    ...[
      "conversation",
      "asked with",
      "read from cache",
      "billed as",
      "next request",
      "read by the second of the first",
    ],
    ...["four turns billed as", "the last of them"],
  ];
  return table(head, rows);
}

function compactionsTargets(compactions: readonly Compacted[]): Target[] {
  const own = compactions.filter(({ way }) => way === "ours" || way === "provider");
  const asides = own.flatMap(({ asked, before }) => asked.map(({ read }) => read / before.cached));
  const seconds = own.map(({ after: [first, second] }) => (second?.read ?? 0) / (first?.cached ?? 1));
  const all = (shares: readonly number[]) => ({
    figure: `${percent(Math.min(...shares))} (the least of ${shares.length})`,
    met: shares.length > 0 && Math.min(...shares) >= 1,
  });
  return [
    {
      what: "of what the first request after a compaction left in the cache, read by the second",
      target: "100 %",
      ...all(seconds),
    },
    {
      what: "of what the conversation's last request left in the cache, read by the one that asks for a compaction",
      target: "100 %",
      ...all(asides),
    },
  ];
}

function billed({ agent }: Compacted, requests: readonly Took[]): number {
  const write = agent === "steps" ? 1 : 1.25;
  return sum(requests.map(({ sent, read, written }) => sent - read - written + written * write + read * READ));
}
