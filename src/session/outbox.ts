import { flush } from "./flush.ts";
import type { Store } from "./store.ts";

/** What the copy needs of the session it belongs to. */
export interface OutboxHost {
  /** Where the record is kept; null keeps none. */
  readonly db: D1Database | null;
  readonly store: Store;
  waitUntil(work: Promise<unknown>): void;
  /** Told that all is there. */
  done(): void;
  /** Told what failed, to try it again later. */
  failed(message: string, error: unknown): Promise<void>;
  report(message: string, error: unknown): void;
}

/** What of a session is to get to D1: one copy at a time, and as much as was asked for last. */
export class Outbox {
  readonly #host: OutboxHost;
  #flushing: Promise<void> | null = null;
  /** The revision that D1 is to have. */
  #wanted = 0;

  constructor(host: OutboxHost) {
    this.#host = host;
  }

  /**
   * Copies all there is now to D1, off the caller's path, after so many milliseconds. What fails is caught up with by
   * the next flush or by the alarm, whichever comes first.
   */
  soon(after: number): void {
    this.#wanted = this.#host.store.session()?.rev ?? 0;
    const wait = after === 0 ? Promise.resolve() : new Promise<void>((resolve) => setTimeout(resolve, after));
    const copied = wait.then(() => this.#flush());
    this.#host.waitUntil(copied.catch((error: unknown) => this.#host.failed("flush to D1 failed", error)));
  }

  /** Copies all there is now. Rejects when D1 does. */
  async all(): Promise<void> {
    const row = this.#host.store.session();
    if (row === null || row.deleted_at !== null) return;
    this.#wanted = row.rev;
    await this.#flush();
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#copy().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #copy(): Promise<void> {
    const { db, store, report } = this.#host;
    if (db === null) return;
    await flush(db, store, () => this.#wanted, report);
    if (store.session() !== null) this.#host.done();
  }
}
