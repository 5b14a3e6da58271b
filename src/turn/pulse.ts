import type { SessionApi } from "../session/contract.ts";
import { BEAT_MS, BEAT_SHARE, SILENT_SHARE } from "./limits.ts";

/** Why a turn's work is aborted here. `handed`: another isolate is to go on with it. */
export type Ended = "cancelled" | "lost" | "handed" | "expired";

/**
 * Tells the session every second (more often on a lease of a few seconds) that the turn lives, and aborts `signal` when the session says that it was cancelled
 * or that another isolate has it, when it says nothing for most of the lease, or when this isolate may not go on.
 */
export class Pulse {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #now: () => number;
  readonly #beat: () => Promise<void>;
  readonly #silence: number;
  #heard: number;
  #ended: Ended | null = null;
  #left = false;
  /** From then on the turn is handed over between two steps, and from `cut` on within one. */
  #leave = Number.POSITIVE_INFINITY;
  #cut = Number.POSITIVE_INFINITY;
  /** From then on it is over wherever it is. */
  #deadline = Number.POSITIVE_INFINITY;

  /** `attach` is called when somebody follows the turn who has nothing of it yet. */
  constructor(
    session: Pick<SessionApi, "beat">,
    fence: number,
    leaseSeconds: number,
    now: () => number,
    attach: () => void,
  ) {
    this.#heard = now();
    this.#now = now;
    const lease = leaseSeconds * 1000;
    // On a lease of a few seconds, which is a test's, the session's own answer has to do.
    this.#silence = Math.max(lease * SILENT_SHARE, BEAT_MS * 3);
    this.#beat = async () => {
      const answer = await session.beat(fence);
      this.#heard = now();
      if (answer === "cancel") this.end("cancelled");
      if (answer === "lost") this.end("lost");
      if (answer === "attach") attach();
    };
    let asking = false;
    this.#timer = setInterval(
      async () => {
        this.check();
        if (asking) return;
        asking = true;
        try {
          await this.#beat();
        } catch {
          // The next beat asks again; silence that lasts ends the turn above.
        } finally {
          asking = false;
        }
      },
      Math.min(BEAT_MS, lease * BEAT_SHARE),
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): Ended | null {
    return this.#ended;
  }

  /** The turn was cancelled because whoever asked is gone. */
  get left(): boolean {
    return this.#left;
  }

  /** Whether the turn is to be handed over before its next step. */
  get leaves(): boolean {
    return this.#ended === "handed" || this.#now() >= this.#leave;
  }

  /** The turn is handed over before its first step after `leave`, or cut at `cut` if a step takes longer. */
  leaveBy(leave: number, cut = Number.POSITIVE_INFINITY): void {
    this.#leave = Math.min(this.#leave, leave);
    this.#cut = Math.min(this.#cut, cut);
  }

  /** Ends the turn here if its lease may be gone or its time is over. Asked before anything begins that costs. */
  check(): Ended | null {
    if (this.#now() - this.#heard > this.#silence) this.end("lost");
    if (this.#now() >= this.#deadline) this.end("expired");
    if (this.#now() >= this.#cut) this.end("handed");
    return this.#ended;
  }

  /** Whether the session itself says that the turn may go on; ends the turn here if not. Rejects when it can't be asked. */
  async ask(): Promise<boolean> {
    await this.#beat();
    return this.check() === null;
  }

  end(why: Ended): void {
    if (this.#ended !== null) return;
    this.#ended = why;
    this.#controller.abort(why);
  }

  /** Whoever asked is gone, and nobody else is to get the answer. */
  leaveAlone(): void {
    this.#left = this.#ended === null;
    this.end("cancelled");
  }

  /** The turn may not go on beyond `at`. */
  expireAt(at: number): void {
    this.#deadline = at;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
