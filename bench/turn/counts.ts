import type { Tally } from "../lib/meter.ts";
import { median } from "../lib/stats.ts";
import { ask, LENGTHS } from "./answers.ts";
import { type HoldfastContender, holdfastContender } from "./contenders.ts";

/** What a turn of each length was made of, and what a session's first turn was. */
export interface Counts {
  readonly first: Tally;
  readonly later: ReadonlyMap<number, Tally>;
  /** How much longer a turn takes for each 100 ms that every D1 statement takes longer, in ms. */
  readonly d1OnPath: number;
}

const D1_DELAY_MS = 100;

/** Counts what turns do, the flush that follows them included. */
export async function countTurns(url: string): Promise<Counts> {
  const contender = await holdfastContender(url, true);
  try {
    const count = async (tokens: number, n: number) => {
      await contender.say("counted", ask(tokens, n));
      return tally(contender);
    };
    const first = await count(10, 0);
    const later = new Map<number, Tally>();
    for (const tokens of LENGTHS) {
      await count(tokens, 1);
      later.set(tokens, await count(tokens, 2));
    }
    return { first, later, d1OnPath: await d1OnPath(contender) };
  } finally {
    await contender.dispose();
  }
}

async function tally({ workerd }: HoldfastContender): Promise<Tally> {
  const response = await workerd.fetch("/bench/tally?conversation=counted");
  const taken: Tally = await response.json();
  return taken;
}

/** Whether a turn waits for D1 is not seen from who asks it: it is seen from a D1 that is slow. */
async function d1OnPath(contender: HoldfastContender): Promise<number> {
  const times = async (delay: number) => {
    await contender.workerd.fetch(`/bench/delay?d1=${delay}`);
    const measured: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      measured.push((await contender.say("counted", ask(10, n))).whole);
      await tally(contender);
    }
    await contender.workerd.fetch("/bench/delay");
    return median(measured);
  };
  return (await times(D1_DELAY_MS)) - (await times(0));
}
