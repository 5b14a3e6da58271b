import type { SessionApi } from "../session/contract.ts";
import { BEAT_MS, SILENCE_MS } from "./limits.ts";

/** Why a turn's work is aborted. */
export type Ended = "cancelled" | "lost";

/**
 * Tells the session every second that the turn lives, and aborts `signal` when the session says that it was cancelled
 * or that another isolate has it, or when it says nothing for ten seconds.
 */
export class Pulse {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;
  #heard: number;
  #ended: Ended | null = null;

  constructor(session: Pick<SessionApi, "beat">, fence: number, now: () => number) {
    this.#heard = now();
    let asking = false;
    this.#timer = setInterval(async () => {
      if (now() - this.#heard > SILENCE_MS) this.end("lost");
      if (asking) return;
      asking = true;
      try {
        const answer = await session.beat(fence);
        this.#heard = now();
        if (answer === "cancel") this.end("cancelled");
        if (answer === "lost") this.end("lost");
      } catch {
        // The next beat asks again; silence that lasts ends the turn above.
      } finally {
        asking = false;
      }
    }, BEAT_MS);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): Ended | null {
    return this.#ended;
  }

  end(why: Ended): void {
    if (this.#ended !== null) return;
    this.#ended = why;
    this.#controller.abort(why);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
