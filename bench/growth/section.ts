import { say, startAnthropicEmulator } from "../../test/emulators/anthropic/index.ts";
import { ms, type Target, table, targets, thousands, times } from "../lib/markdown.ts";
import { type SearchTimes, searchTimes } from "./catalogs.ts";
import { type Grown, Sessions } from "./sessions.ts";

const SIZES = [10, 100, 1_000, 10_000] as const;
const REGENERATED = [10, 100, 1_000] as const;

export async function growthSection(): Promise<string> {
  const emulator = await startAnthropicEmulator({ answer: () => say("Nothing has changed since you asked me that.") });
  const sessions = await Sessions.start(emulator);
  try {
    // The first size must not pay for a process that has just begun.
    for (const warmUp of [20, 40, 60]) await sessions.edited(warmUp);
    const edited: Grown[] = [];
    const growing: Grown[] = [];
    for (const size of SIZES) edited.push(await sessions.edited(size));
    const regenerated = await sessions.regenerated(REGENERATED);
    for (const size of SIZES) growing.push(await sessions.growing(size));
    return report(edited, regenerated, growing, SIZES.map(searchTimes));
  } finally {
    await sessions.dispose();
    await emulator.close();
  }
}

function report(
  edited: readonly Grown[],
  regenerated: readonly Grown[],
  growing: readonly Grown[],
  searches: readonly SearchTimes[],
): string {
  const rows = (grown: readonly Grown[]) =>
    grown.map(({ entries, turn, body, model }) => [
      thousands(entries),
      `${ms(turn)} ms`,
      `${ms(model)} ms`,
      `${ms(turn - model)} ms`,
      times((turn - model) / ours(grown[0])),
      thousands(body),
    ]);
  const head = [
    "entries",
    "a turn",
    "of it the emulator",
    "of it Holdfast",
    "against the smallest",
    "bytes to the model",
  ];
  return [
    "Medians of twenty turns of one step, the object warm. The emulator reads and checks the whole request, so what it takes for the same",
    "request alone is told apart.",
    "",
    "The same context behind more and more entries: a history of that length, of which an edit left one question and its",
    "answer.",
    "",
    table(head, rows(edited)),
    "",
    "The same context behind more and more answers: one question, whose answer is regenerated (each is a rewind, an answer",
    "and an epoch).",
    "",
    table(head, rows(regenerated)),
    "",
    "A context that grows with its entries:",
    "",
    table(head, rows(growing)),
    "",
    "Catalogs, in Node: a search by words with the index built (warm) and to be built (cold), one by a name, and what each",
    "request does with the catalog.",
    "",
    table(
      ["lazy tools", "search, cold", "search, warm", "by name", "catalog"],
      searches.map(({ tools, cold, warm, named, catalog }) => [
        thousands(tools),
        `${ms(cold)} ms`,
        `${ms(warm)} ms`,
        `${ms(named)} ms`,
        `${ms(catalog)} ms`,
      ]),
    ),
    "",
    targets(growthTargets(edited, regenerated, searches)),
  ].join("\n");
}

function growthTargets(
  edited: readonly Grown[],
  regenerated: readonly Grown[],
  searches: readonly SearchTimes[],
): Target[] {
  const growth = (what: string, grown: readonly Grown[]): Target => {
    const ratio = ours(grown.at(-1)) / ours(grown[0]);
    return { what, target: "at most 1.2×", figure: times(ratio), met: ratio <= 1.2 };
  };
  const warm = searches.at(-1)?.warm ?? Number.NaN;
  return [
    growth("a turn at the same context, 10,000 entries against 10", edited),
    growth("a turn at the same context, 1,000 entries of regenerating against 10", regenerated),
    { what: "search in 10,000 tools, warm", target: "under 10 ms", figure: `${ms(warm)} ms`, met: warm < 10 },
  ];
}

function ours(grown: Grown | undefined): number {
  return grown === undefined ? Number.NaN : grown.turn - grown.model;
}
