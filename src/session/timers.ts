import type { Store, Timer } from "./store.ts";

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 5 * 60_000;

/** How long to wait after `tries` tries that failed, in milliseconds. */
export function backOff(tries: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries, 20));
}

/** Milliseconds since the epoch at which a timer is due next; null when all is done. */
type Next = number | null;

/** What a timer does when it is due. Throws or rejects when it has to be tried again. */
export type Work = Readonly<Record<Timer["name"], () => Next | Promise<Next>>>;

/** Sets the object's one alarm; null is none. */
export type SetAlarm = (due: number | null) => Promise<void>;

/**
 * What an object has to do later, on its one alarm. Due work is done one after the other, each in a try of its own, so
 * that none holds another up; what fails is put off, twice as long each time. Nothing is ever thrown: an alarm that
 * throws is given up by the platform after six tries.
 */
export class Timers {
  readonly #store: Store;
  readonly #setAlarm: SetAlarm;
  readonly #report: (message: string, error: unknown) => void;

  constructor(store: Store, setAlarm: SetAlarm, report: (message: string, error: unknown) => void) {
    this.#store = store;
    this.#setAlarm = setAlarm;
    this.#report = report;
  }

  /** Something failed, or may be left undone, and is to be tried later; if it waits already it goes on waiting. */
  async retry(name: Timer["name"], now: number): Promise<void> {
    if (this.#store.timers().some((timer) => timer.name === name)) return;
    this.#store.setTimer({ name, due: now + backOff(0), tries: 1 });
    await this.#arm();
  }

  /** Something is to be done then; if it waits already, the earlier time counts. */
  async at(name: Timer["name"], due: number): Promise<void> {
    if (this.#store.timers().some((timer) => timer.name === name && timer.due <= due)) return;
    this.#store.setTimer({ name, due, tries: 0 });
    await this.#arm();
  }

  /** Something is to be done by then; if it waits already, the earlier time counts. */
  async by(name: Timer["name"], due: number): Promise<void> {
    const waiting = this.#store.timers().find((timer) => timer.name === name);
    if (waiting !== undefined && waiting.due <= due) return;
    this.#store.setTimer({ name, due, tries: waiting?.tries ?? 0 });
    await this.#arm();
  }

  /** It was done in the meantime. */
  done(name: Timer["name"]): void {
    if (this.#store.timers().some((timer) => timer.name === name)) this.#store.dropTimer(name);
  }

  /** The alarm rang. */
  async ring(now: number, work: Work): Promise<void> {
    try {
      for (const timer of this.#store.timers()) {
        if (timer.due <= now && this.#store.exists()) await this.#run(timer, now, work);
      }
    } catch (error) {
      this.#report("the timers could not be read", error);
    } finally {
      await this.#arm().catch((error: unknown) => this.#report("the alarm could not be set", error));
    }
  }

  async #run({ name, tries }: Timer, now: number, work: Work): Promise<void> {
    try {
      const answer = work[name]();
      // Work that is done at once leaves no moment in which the same timer could be wanted anew and then be dropped.
      const next = answer instanceof Promise ? await answer : answer;
      // It may have been the burial: with the session went its storage, and these timers.
      if (!this.#store.exists()) return;
      if (next === null) this.done(name);
      else this.#store.setTimer({ name, due: next, tries: 0 });
    } catch (error) {
      this.#report(`${name} failed again`, error);
      this.#store.setTimer({ name, due: now + backOff(tries), tries: tries + 1 });
    }
  }

  async #arm(): Promise<void> {
    if (!this.#store.exists()) return;
    await this.#setAlarm(this.#store.timers()[0]?.due ?? null);
  }
}
