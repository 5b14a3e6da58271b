import { releaseOf } from "./admission.ts";
import { childrenOf } from "./children.ts";
import type { SessionHost } from "./host.ts";
import { entomb } from "./record.ts";
import type { Store } from "./store.ts";
import { countUsage } from "./usage.ts";

/** What is left to do for a session that was deleted: its sub-sessions, the tombstone in D1, then its own storage. */
export class Burial {
  readonly #host: Pick<SessionHost, "db" | "removeOther">;
  readonly #store: Store;
  readonly #over: () => void;
  #burying: Promise<void> | null = null;

  /** `over` is called when the tombstone is there, just before the storage goes. */
  constructor(host: Pick<SessionHost, "db" | "removeOther">, store: Store, over: () => void) {
    this.#host = host;
    this.#store = store;
    this.#over = over;
  }

  /** Rejects when D1 does; until it succeeds the object only refuses everything. */
  bury(): Promise<void> {
    this.#burying ??= this.#bury().finally(() => {
      this.#burying = null;
    });
    return this.#burying;
  }

  async #bury(): Promise<void> {
    const row = this.#store.session();
    if (row?.deleted_at == null) return;
    const { db, removeOther } = this.#host;
    if (removeOther !== undefined) {
      for (const child of childrenOf(row, this.#store.entries(0))) await removeOther(child);
    }
    const calls = this.#store.calls(row.recorded_rev);
    if (db !== null) await entomb(db, row, row.deleted_at, [...countUsage(db, row, calls), ...releaseOf(db, row)]);
    this.#over();
    await this.#store.clear();
  }
}
