import type { Recorded } from "./recorded.ts";
import { type Contender, judge, type Reply } from "./verdict.ts";

/** The part of a provider's exchanges that an emulator may leave uncovered. */
export const MAX_UNCOVERED = 0.25;

export interface Report {
  /** For a reader: each disagreement, then a line for each provider and one for all. */
  readonly lines: readonly string[];
  /** Whether every emulator covers enough and agrees wherever it covers. */
  readonly good: boolean;
}

interface Tally {
  agree: number;
  covered: number;
  uncovered: number;
}

/** Replays exchanges through the emulators. Providers without an emulator are named and count for nothing. */
export function report(exchanges: readonly Recorded[], contenders: readonly Contender[]): Report {
  const lines: string[] = [];
  const all: Tally = { agree: 0, covered: 0, uncovered: 0 };
  let good = true;
  for (const provider of new Set(exchanges.map((exchange) => exchange.provider))) {
    const own = exchanges.filter((exchange) => exchange.provider === provider);
    const contender = contenders.find((candidate) => candidate.provider === provider);
    if (contender === undefined) {
      lines.push(`${provider}: no emulator yet (${own.length} exchanges left out)`);
      continue;
    }
    const tally = replay(own, contender, lines);
    all.agree += tally.agree;
    all.covered += tally.covered;
    all.uncovered += tally.uncovered;
    const tooFew = tally.uncovered > own.length * MAX_UNCOVERED;
    if (tooFew) lines.push(`${provider}: more than ${MAX_UNCOVERED * 100} % of the exchanges are not covered`);
    good &&= !tooFew && tally.agree === tally.covered;
    lines.push(`${provider}: ${spell(tally)}`);
  }
  lines.push(spell(all));
  return { lines, good };
}

function replay(exchanges: readonly Recorded[], contender: Contender, lines: string[]): Tally {
  const tally: Tally = { agree: 0, covered: 0, uncovered: 0 };
  for (const exchange of exchanges) {
    const verdict = judge(contender, exchange);
    if (verdict.kind === "uncovered") {
      tally.uncovered += 1;
      lines.push(`not covered: ${exchange.provider} ${exchange.id}: ${verdict.because}`);
      continue;
    }
    tally.covered += 1;
    if (verdict.kind === "agrees") tally.agree += 1;
    else {
      const { recorded, emulated } = verdict;
      lines.push(
        `differs: ${exchange.provider} ${exchange.id}: recorded ${said(recorded)}, emulator ${said(emulated)}`,
      );
    }
  }
  return tally;
}

function said({ status, errorType, message }: Reply): string {
  if (errorType === null) return String(status);
  return message === undefined ? `${status} ${errorType}` : `${status} ${errorType} (${message})`;
}

function spell({ agree, covered, uncovered }: Tally): string {
  return `agree: ${agree} of ${covered} (${uncovered} not covered)`;
}
