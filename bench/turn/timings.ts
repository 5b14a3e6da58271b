import { cpuTime, workerdProcesses } from "../lib/cpu.ts";
import { startIsolates } from "../lib/isolates.ts";
import type { Timing } from "../lib/read-stream.ts";
import { readStream } from "../lib/read-stream.ts";
import { ask } from "./answers.ts";
import { type Contender, definitions, turnRequest } from "./contenders.ts";

/** Between two turns: what a turn leaves to be done after its answer must not fall into another's time. */
const PAUSE_MS = 60;

/** Timings by contender, in the order of the contenders. */
export type Timings = readonly (readonly Timing[])[];

/**
 * Turns of one conversation each, contender by contender in turns, after `warm` turns that do not count. Also the
 * processor time that each contender's workerd took a turn, in ms.
 */
export async function warmTurns(
  contenders: readonly Contender[],
  options: { readonly tokens: number; readonly delay: number; readonly warm: number; readonly count: number },
): Promise<Timings> {
  const { tokens, delay, warm, count } = options;
  const conversation = `warm-${tokens}-${delay}`;
  for (const one of contenders) await one.delay(delay);
  const timings: Timing[][] = contenders.map(() => []);
  for (let n = 0; n < warm + count; n += 1) {
    for (const [index, one] of contenders.entries()) {
      const timing = await one.say(conversation, ask(tokens, n));
      if (n >= warm) timings[index]?.push(timing);
      await pause();
    }
  }
  for (const one of contenders) await one.delay(0);
  return timings;
}

/** Processor time of the contenders' workerd a turn, in ms, over `count` warm turns of 10 tokens. */
export async function processorTime(
  contenders: readonly (Contender & { readonly pid: number })[],
  count: number,
): Promise<number[]> {
  const times: number[] = [];
  for (const one of contenders) {
    await one.say("warm-10-0", ask(10, 0));
    await pause();
    const before = cpuTime(one.pid);
    for (let n = 0; n < count; n += 1) {
      await one.say("warm-10-0", ask(10, n));
      await pause();
    }
    times.push((cpuTime(one.pid) - before) / count);
  }
  return times;
}

/** Starts a contender and finds out which workerd is its own. */
export async function withProcess<C extends Contender>(
  start: Promise<C>,
  known: Set<number>,
): Promise<C & { pid: number }> {
  const contender = await start;
  const pid = [...workerdProcesses()].find((one) => !known.has(one)) ?? 0;
  known.add(pid);
  return { ...contender, pid };
}

/** The first turn of a process on a conversation that is on disk, and how long the process took to listen. */
export async function freshTurns(contenders: readonly Contender[], count: number) {
  const timings: Timing[][] = contenders.map(() => []);
  const starts: number[][] = contenders.map(() => []);
  for (let n = 0; n < count; n += 1) {
    for (const [index, one] of contenders.entries()) {
      starts[index]?.push(await one.fresh());
      await pause();
      timings[index]?.push(await one.say("warm-10-0", ask(10, n)));
      await pause();
    }
  }
  return { timings, starts };
}

/**
 * Turns of which each runs in an isolate that is made for it, in a process that is warm and beside an object that is
 * warm: of Holdfast and of the floor. The object is one hop further away than usual.
 */
export async function coldIsolateTurns(url: string, count: number): Promise<Timings> {
  const variables = {
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: url,
    HOLDFAST_API_KEYS: "bench:bench-secret-bench-secret-bench",
    TOOLS: definitions(),
  };
  const all = [
    await startIsolates("src/worker.ts", variables),
    await startIsolates("bench/turn/floor-worker.ts", variables),
  ];
  const timings: Timing[][] = all.map(() => []);
  try {
    for (let n = 0; n < count + 2; n += 1) {
      for (const [index, isolates] of all.entries()) {
        const request = turnRequest("cold", ask(10, n));
        const timing = await readStream(() => isolates.fetch(`isolate-${n}`, "/v1/chat/completions", request));
        if (n >= 2) timings[index]?.push(timing);
        await pause();
      }
    }
  } finally {
    for (const isolates of all) await isolates.dispose();
  }
  return timings;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
