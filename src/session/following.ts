import type { FollowAnswer, FollowRequest, TellAnswer, Told } from "./contract.ts";
import type { EventLog } from "./event-log.ts";
import { answerFrom, Live } from "./live.ts";
import type { SessionRow, Store } from "./store.ts";
import { toldByEntries } from "./told.ts";

/** How long somebody who follows a turn is made to wait for its next event. */
const FOLLOW_MS = 20_000;

/** A turn's last events come this long after its end, if at all. */
const LAST_EVENTS_MS = 1_000;

/**
 * Those who follow a session's turns: they are told what the turn's isolate tells here, once it is asked to, and of a turn
 * that is over what its entries tell.
 */
export class Following {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #live = new Live();
  /** When the newest turn ended, in this object's memory: its last events may still be on their way. */
  #endedAt = 0;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Another turn begins. */
  begins(turn: string): void {
    this.#live.forget(turn);
  }

  /** The turn is over. */
  ends(): void {
    this.#endedAt = this.#now();
    this.#live.bell.ring();
  }

  /** Somebody follows the turn, and the isolate that holds it does not tell its events yet. */
  wants({ turn, fence }: Pick<SessionRow, "turn" | "fence">): boolean {
    return this.#live.wants(turn, fence);
  }

  tell({ turn, fence }: Pick<SessionRow, "turn" | "fence">, told: Told): TellAnswer {
    return this.#live.tell(turn, fence, told);
  }

  /** What the running turn has told so far, from after a number on, for the isolate that goes on with it. */
  replay(row: SessionRow, after: number): Told | null {
    const { turn } = row;
    const log = this.#live.of(turn) ?? toldByEntries(this.#store, row, turn);
    if (log === null) return null;
    this.#live.keep(turn, log);
    const { events } = answerFrom(log, turn, { v: 1, turn, log: log.id, after, waitMs: 0 });
    return { log: log.id, after, events };
  }

  /** As `SessionApi.follow`, from the session's row as it is now on. */
  async follow(now: SessionRow | null, request: FollowRequest): Promise<FollowAnswer | null> {
    const deadline = this.#now() + Math.min(request.waitMs, FOLLOW_MS);
    for (let row = now; row !== null && row.deleted_at === null; row = this.#store.session()) {
      const turn = request.turn ?? row.turn;
      // What was copied or brought in has had no turn yet.
      if (turn === "") return { turn, log: "", events: [], ended: true };
      const log = this.#logOf(row, turn);
      if (log === null && turn !== row.turn) return null;
      const answer = log && answerFrom(log, turn, request);
      if (answer && (answer.events.length > 0 || answer.ended)) return answer;
      const left = deadline - this.#now();
      if (left <= 0) return { turn, log: log?.id ?? request.log ?? "", events: [], ended: false };
      // What was told may be lost with an isolate after its turn's end: then the entries are asked.
      await this.#live.bell.next(row.status === "running" ? left : Math.min(left, LAST_EVENTS_MS));
    }
    return null;
  }

  /** What is known of a turn's events right now; null where its isolate has to be asked, or there is no such turn. */
  #logOf(row: SessionRow, turn: string): EventLog | null {
    if (turn !== row.turn) return toldByEntries(this.#store, row, turn);
    const told = this.#live.of(turn);
    const running = row.status === "running";
    if (running) this.#live.want(turn);
    if (running || told?.ended) return told;
    if (told !== null && this.#now() - this.#endedAt < LAST_EVENTS_MS) return told;
    const log = toldByEntries(this.#store, row, turn);
    if (log !== null) this.#live.keep(turn, log);
    return log;
  }
}
