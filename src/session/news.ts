import type { TaskRecord } from "../values/task.ts";
import type { SessionHost } from "./host.ts";
import { announce, MOST_PUSHES, MOST_TRIES, type Push, type PushKept } from "./pushes.ts";
import type { SessionRow, Store } from "./store.ts";
import { backOff, type Timers } from "./timers.ts";

/** The news of a session's tasks: who is to be told, and the telling. */
export class News {
  readonly #host: Pick<SessionHost, "now" | "waitUntil" | "push">;
  readonly #store: Store;
  readonly #timers: Timers;
  readonly #report: (message: string, error: unknown) => void;

  constructor(
    host: Pick<SessionHost, "now" | "waitUntil" | "push">,
    store: Store,
    timers: Timers,
    report: (message: string, error: unknown) => void,
  ) {
    this.#host = host;
    this.#store = store;
    this.#timers = timers;
    this.#report = report;
  }

  /** Keeps a receiver of a task's news. `now`: it is told how the task stands, if it does not work any more. */
  keep(row: SessionRow, { turn, state }: Pick<TaskRecord, "turn" | "state">, push: Push, now: boolean): PushKept {
    const known = this.#store.pushes(turn);
    if (known.length >= MOST_PUSHES && !known.some(({ id }) => id === push.id)) return "full";
    const rev = row.rev + 1;
    this.#store.transaction(() => {
      this.#store.addPush(rev, turn, push);
      this.#store.update({ rev });
      if (now && state !== "working") announce(this.#store, rev, turn, this.#host.now());
    });
    this.soon();
    return "kept";
  }

  /** Tells a receiver nothing any more. False where there is none of that id. */
  drop(row: SessionRow, turn: string, id: string): boolean {
    if (!this.#store.pushes(turn).some((push) => push.id === id)) return false;
    const rev = row.rev + 1;
    this.#store.transaction(() => {
      this.#store.addPush(rev, turn, { id, text: "" });
      this.#store.update({ rev });
    });
    return true;
  }

  /** Sets the timer for what is to be told, if there is anything. */
  soon(): void {
    const [first] = this.#store.deliveries();
    if (first === undefined) return;
    const set = this.#timers.by("push", first.due);
    this.#host.waitUntil(set.catch((error: unknown) => this.#report("no alarm for a push", error)));
  }

  /** Tells what is due, each in a try of its own. Answers when the next is (milliseconds since the epoch), null for none. */
  async tell(): Promise<number | null> {
    const row = this.#store.session();
    if (row === null || row.deleted_at !== null) return null;
    const { owner, agent, conversation } = row;
    for (const one of this.#store.deliveries()) {
      const now = this.#host.now();
      if (one.due > now) break;
      const push = this.#store.pushes(one.task).find(({ id }) => id === one.id);
      try {
        const job = { v: 1, id: { owner, agent, conversation }, turn: one.task } as const;
        if (push !== undefined) await this.#host.push?.({ ...job, push: push.text });
        this.#store.dropDelivery(one);
      } catch (error) {
        this.#report("a push was not taken", error);
        this.#store.dropDelivery(one);
        const again = { ...one, tries: one.tries + 1, due: now + backOff(one.tries) };
        const newer = this.#store.deliveries().some(({ task, id }) => task === one.task && id === one.id);
        if (!newer && again.tries < MOST_TRIES) this.#store.setDelivery(again);
      }
    }
    return this.#store.deliveries()[0]?.due ?? null;
  }
}
