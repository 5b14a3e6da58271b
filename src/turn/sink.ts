import type { TurnEvent, TurnEventBody } from "../values/turn-event.ts";

/**
 * Where a turn tells what happens. Never throws and never makes the turn wait: what nobody reads is kept until somebody
 * does, and dropped once nobody will. Read it once.
 */
export class Sink implements AsyncIterable<TurnEvent> {
  #n = 0;
  #queue: TurnEvent[] = [];
  #wake: (() => void) | null = null;
  #closed = false;
  #dropping = false;

  emit(event: TurnEventBody): void {
    if (this.#closed) return;
    this.#n += 1;
    if (event.type === "done" || event.type === "failed") this.#closed = true;
    if (!this.#dropping) this.#queue.push({ ...event, n: this.#n });
    this.#wake?.();
  }

  /** Nobody will read any more. */
  drop(): void {
    this.#dropping = true;
    this.#queue = [];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TurnEvent> {
    try {
      for (;;) {
        const event = this.#queue.shift();
        if (event !== undefined) {
          yield event;
        } else if (this.#closed || this.#dropping) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.drop();
    }
  }
}
