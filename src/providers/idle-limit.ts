import { brokeOff } from "./broke-off.ts";

/** A stream that says nothing for so long is dead: a provider sends something at least every few seconds. */
export const IDLE_MS = 5 * 60_000;

/** The same events. Throws when none comes for `ms` milliseconds, so that a dead connection does not hold a turn. */
export async function* withIdleLimit<T>(events: AsyncIterable<T>, ms: number): AsyncGenerator<T> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { promise: silence, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(brokeOff(`nothing came for ${ms} ms`)), ms);
      try {
        const next = await Promise.race([iterator.next(), silence]);
        if (next.done) return;
        yield next.value;
      } finally {
        clearTimeout(timer);
      }
    }
  } finally {
    // Ends the request; a stream that hangs would never answer this, so nobody waits for it.
    iterator.return?.().catch(() => undefined);
  }
}
