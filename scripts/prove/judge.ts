import type { CallRecord } from "../../src/session/contract.ts";
import { verdictText } from "../../src/values/turn-event.ts";
import { inputTokens } from "../../src/values/usage.ts";

/** One request of the conversation, judged. */
export interface Judged {
  readonly call: CallRecord;
  /** Tokens that the request before read or wrote: what this one should read. 0 where nothing was to be read. */
  readonly expected: number;
  /** What is wrong with it, or null. */
  readonly problem: string | null;
}

/**
 * Holds each request of a conversation against the one before it: what that one left in the cache has to be read now.
 * `calls` are those of the ledger, with the usage that the provider reported. `step`: the provider caches all it gets, in
 * steps of so many tokens, and says nothing of what it writes; null: it says what it wrote.
 */
export function judge(calls: readonly CallRecord[], step: number | null = null): Judged[] {
  const left = ({ usage }: CallRecord) =>
    step === null ? usage.cacheRead + usage.cacheWrite : Math.floor(inputTokens(usage) / step) * step;
  return calls.map((call, index) => {
    const before = calls[index - 1];
    const expected = before === undefined ? 0 : left(before);
    return { call, expected, problem: problemOf(call, before, before === undefined ? left(call) : expected) };
  });
}

function problemOf(call: CallRecord, before: CallRecord | undefined, expected: number): string | null {
  const { verdict, usage } = call;
  if (!call.answered) return "was not answered";
  if (before === undefined) return expected === 0 ? "wrote nothing to the cache" : null;
  if (verdict.prefix !== "extends") return `does not extend the request before: ${verdictText(verdict)}`;
  if (usage.cacheRead < expected) return `read ${usage.cacheRead} tokens of the ${expected} that were in the cache`;
  return null;
}

/** A line for each request, under a head. */
export function lines(judged: readonly Judged[]): string[] {
  const row = (cells: readonly (string | number)[]) =>
    cells.map((cell, at) => String(cell).padStart(at === 1 ? 24 : 9)).join("");
  return [
    row(["request", "verdict", "input", "read", "written", "output"]),
    ...judged.map(({ call, problem }, index) => {
      const { input, cacheRead, cacheWrite, output } = call.usage;
      const figures = row([index + 1, verdictText(call.verdict), input, cacheRead, cacheWrite, output]);
      return problem === null ? figures : `${figures}   <- ${problem}`;
    }),
  ];
}

/** The verdict of the whole, in a sentence or two. */
export function conclusion(judged: readonly Judged[]): string {
  const wrong = judged.flatMap(({ problem }, index) => (problem === null ? [] : [`request ${index + 1} ${problem}`]));
  if (wrong.length > 0) return `NOT PROVED: ${wrong.join("; ")}.`;
  const later = judged.slice(1);
  const read = later.reduce((sum, { call }) => sum + call.usage.cacheRead, 0);
  const all = later.reduce((sum, { call: { usage } }) => sum + usage.input + usage.cacheRead + usage.cacheWrite, 0);
  return (
    `PROVED: in each of ${later.length} requests after the first, all that was sent before was read from the cache, ` +
    `${((100 * read) / all).toFixed(1)} % of their input.`
  );
}
