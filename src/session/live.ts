import { Bell } from "./bell.ts";
import type { FollowAnswer, FollowRequest, TellAnswer, Told } from "./contract.ts";
import { EventLog } from "./event-log.ts";
import { PAGE_CHARS } from "./page.ts";

/**
 * The events of one turn, for those who follow it, and who waits for more of them. In memory only: the isolate that runs
 * the turn has them all and tells them again if this object forgot them, and a turn that is over is in its entries.
 */
export class Live {
  #turn = "";
  #log: EventLog | null = null;
  #wanted = false;
  /** The fence of the isolate that tells. */
  #teller: number | null = null;
  /** Rings with each thing that happens. */
  readonly bell = new Bell();

  /** Somebody follows the turn, and the isolate with that fence does not tell its events yet. */
  wants(turn: string, fence: number): boolean {
    return this.#wanted && this.#turn === turn && this.#teller !== fence;
  }

  want(turn: string): void {
    if (this.#turn !== turn) this.forget(turn);
    this.#wanted = true;
  }

  /** Another turn begins. */
  forget(turn: string): void {
    this.#turn = turn;
    this.#log = null;
    this.#wanted = false;
    this.#teller = null;
    this.bell.ring();
  }

  of(turn: string): EventLog | null {
    return this.#turn === turn ? this.#log : null;
  }

  keep(turn: string, log: EventLog): void {
    if (this.#turn !== turn) this.forget(turn);
    this.#log = log;
  }

  tell(turn: string, fence: number, { log: id, after, events }: Told): TellAnswer {
    if (this.#turn !== turn) this.forget(turn);
    if (after === 0) this.#log = new EventLog(id);
    if (this.#log === null || this.#log.id !== id || this.#log.last !== after) {
      this.#teller = null;
      return "resend";
    }
    this.#teller = fence;
    for (const event of events) this.#log.add(event);
    this.bell.ring();
    return "ok";
  }
}

/**
 * What a reader gets of a log: what comes after its last event, as much as one answer holds. A reader that read the turn
 * in another log is told first that all of that is withdrawn.
 */
export function answerFrom(log: EventLog, turn: string, { log: known, after }: FollowRequest): FollowAnswer {
  const other = known !== null && known !== log.id;
  const events = other
    ? [{ type: "withdrawn", step: 0, n: 0 } as const, ...log.after(0)]
    : log.after(known === null ? 0 : after);
  let room = PAGE_CHARS;
  const end = events.findIndex((event, index) => {
    room -= "text" in event ? event.text.length : 100;
    return room < 0 && index > 0;
  });
  const page = end < 0 ? events : events.slice(0, end);
  return { turn, log: log.id, events: page, ended: log.ended && page.length === events.length };
}
