import { EventLog } from "../session/event-log.ts";
import type { TurnEvent, TurnEventBody } from "../values/turn-event.ts";

/** With more events than these unread, pieces of a text are joined. */
const WAITING = 256;

/**
 * Where a turn tells what happens. Never throws and never makes the turn wait: what its one reader has not read is kept
 * for it and dropped once it has left. All that was told is in `log`, for others who follow
 * the turn.
 */
export class Sink implements AsyncIterable<TurnEvent> {
  #log: EventLog;
  #queue: TurnEvent[] = [];
  #wake: (() => void) | null = null;
  #closed = false;
  #dropping = false;
  /** Told after each event. */
  onEvent: ((event: TurnEvent) => void) | null = null;

  constructor(turn: string) {
    this.#log = new EventLog(turn);
  }

  get log(): EventLog {
    return this.#log;
  }

  /** Goes on where another isolate stopped: what was told before is in the log, and this sink's reader is not told it. */
  goOnFrom(log: EventLog): void {
    this.#log = log;
  }

  emit(event: TurnEventBody): void {
    if (this.#closed) return;
    const numbered: TurnEvent = { ...event, n: this.#log.last + 1 };
    this.#log.add(numbered);
    if (event.type === "done" || event.type === "failed") this.#closed = true;
    this.#pass(numbered);
    this.onEvent?.(numbered);
  }

  /** An event of a turn that runs elsewhere, with its own number. */
  pass(event: TurnEvent): void {
    if (this.#closed) return;
    if (event.type === "done" || event.type === "failed") this.#closed = true;
    this.#pass(event);
  }

  /** The turn goes on elsewhere, so nothing more is told here. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** Nobody will read any more. */
  drop(): void {
    this.#dropping = true;
    this.#queue = [];
  }

  #pass(event: TurnEvent): void {
    if (!this.#dropping) {
      const last = this.#queue.at(-1);
      const joins = this.#queue.length > WAITING && last?.type === "text" && event.type === "text";
      if (joins && last.step === event.step) {
        this.#queue[this.#queue.length - 1] = { ...event, text: last.text + event.text };
      } else this.#queue.push(event);
    }
    this.#wake?.();
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
