import type { SessionApi } from "../session/contract.ts";
import { BEAT_MS, SILENT_SHARE } from "./limits.ts";

/** Why a turn's work is aborted. */
export type Ended = "cancelled" | "lost";

/**
 * Tells the session every second that the turn lives, and aborts `signal` when the session says that it was cancelled
 * or that another isolate has it, or when it says nothing for most of the lease.
 */
export class Pulse {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;
  #heard: number;
  #ended: Ended | null = null;

  constructor(session: Pick<SessionApi, "beat">, fence: number, leaseSeconds: number, now: () => number) {
    this.#heard = now();
    // A lease shorter than a few beats is a test's: there the session's own answer has to do.
    const silence = Math.max(leaseSeconds * 1000 * SILENT_SHARE, BEAT_MS * 3);
    let asking = false;
    this.#timer = setInterval(async () => {
      if (now() - this.#heard > silence) this.end("lost");
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
