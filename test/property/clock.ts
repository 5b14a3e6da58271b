import { vi } from "vitest";
import { BEAT_MS } from "../../src/turn/limits.ts";

/** How deep a stop is passed on: a turn, its sub-session, and the one below. */
const DEPTH = 3;

/** Timers move on by so much where nothing else is left to do. */
const STEP_MS = 50;
const MOST_STEPS = 5_000;

/** After so many, this machine may have something to do that only looks as if nothing were left: a module is loaded. */
const QUICK_STEPS = 20;

const sleep = setTimeout;

/** From here on nothing waits for this machine's clock: timers ring by {@link beat} and {@link passing} alone. */
export function holdClock(): void {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
}

/** Back to this machine's clock. */
export function freeClock(): void {
  vi.useRealTimers();
}

/** All pulses beat, and what they were told reaches the turns below. */
export async function beat(): Promise<void> {
  for (let n = 0; n < DEPTH; n++) {
    vi.advanceTimersByTime(BEAT_MS);
    await idle();
  }
}

/** Waits for work that waits for timers, which is over within minutes of them. Throws where it is not. */
export async function passing<T>(work: Promise<T>): Promise<T> {
  let over = false;
  const done = () => {
    over = true;
  };
  work.then(done, done);
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    await (steps < QUICK_STEPS ? idle() : new Promise((resolve) => sleep(resolve, 1)));
    if (over) return work;
    vi.advanceTimersByTime(STEP_MS);
  }
  throw new Error("a turn waits for something that never comes");
}

/** Resolves when nothing is left to do but to wait. */
export function idle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
