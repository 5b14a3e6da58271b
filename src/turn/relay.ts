import type { SessionApi } from "../session/contract.ts";
import type { EventLog } from "../session/event-log.ts";
import type { TurnEvent } from "../values/turn-event.ts";

/** Events that come within this many milliseconds are told together. */
const GATHER_MS = 50;

/** Characters of the events of one call. */
const CALL_CHARS = 1_000_000;

/** A turn's last events are told so often before nobody is told them: its entries have them as well. */
const LAST_TRIES = 3;

/** Hands the events of a turn to its session, from the moment on that somebody follows it; never holds the turn back. */
export class Relay {
  readonly #session: Pick<SessionApi, "tell">;
  readonly #fence: number;
  readonly #log: EventLog;
  /** Events that the session has not got yet; null while nobody wants them. */
  #pending: TurnEvent[] | null = null;
  /** The number of the event before them. */
  #after = 0;
  #telling: Promise<void> | null = null;
  #left = false;

  constructor(session: Pick<SessionApi, "tell">, fence: number, log: EventLog) {
    this.#session = session;
    this.#fence = fence;
    this.#log = log;
  }

  /** The session wants the events, from the first on. */
  attach(): void {
    if (this.#left) return;
    this.#restart();
    this.#soon();
  }

  /** There is a new event. */
  more(event: TurnEvent): void {
    this.#pending?.push(event);
    this.#soon();
  }

  /** The turn goes on elsewhere: whoever has it then tells its events from here on. */
  leave(): void {
    this.#left = true;
    this.#pending = null;
  }

  /** Tells what is left, for there will be no more. */
  async finish(): Promise<void> {
    for (let tries = 0; tries < LAST_TRIES && this.#pending !== null; tries++) {
      await this.#telling;
      // While it was waited for, the session may have said that another isolate has the turn.
      if (!this.#pending?.length) return;
      await this.#tell().catch(() => {});
    }
  }

  #restart(): void {
    this.#pending = this.#log.all;
    this.#after = 0;
  }

  #soon(): void {
    if (this.#pending === null || this.#telling !== null) return;
    this.#telling = gather()
      .then(() => this.#tell())
      .catch(() => {}) // What was not told is told with what comes next, or read from the entries.
      .finally(() => {
        this.#telling = null;
      });
  }

  async #tell(): Promise<void> {
    while (this.#pending !== null && this.#pending.length > 0) {
      const pending = this.#pending;
      const events = firstOf(pending);
      const answer = await this.#session.tell(this.#fence, { log: this.#log.id, after: this.#after, events });
      if (pending !== this.#pending) continue; // The session asked for all of them meanwhile.
      if (answer === "lost") {
        this.leave();
      } else if (answer === "resend") {
        this.#restart();
      } else {
        pending.splice(0, events.length);
        this.#after = events.at(-1)?.n ?? this.#after;
      }
    }
  }
}

/** As many of the events as one call carries, at least one. */
function firstOf(events: readonly TurnEvent[]): TurnEvent[] {
  let room = CALL_CHARS;
  const end = events.findIndex((event, index) => {
    room -= "text" in event ? event.text.length : 100;
    return room < 0 && index > 0;
  });
  return events.slice(0, end < 0 ? events.length : end);
}

function gather(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, GATHER_MS));
}
