import type { SessionId } from "./contract.ts";
import type { PushJob } from "./pushes.ts";
import type { SetAlarm } from "./timers.ts";

/** A turn that another isolate is to go on with. */
export interface TurnJob {
  readonly v: 1;
  readonly id: SessionId;
  readonly turn: string;
  readonly fence: number;
}

/** What a session lives on: its object's storage, or another place that keeps the same promises. */
export interface SessionHost {
  readonly storage: DurableObjectStorage;
  /** Where the record is kept; null keeps none. */
  readonly db: D1Database | null;
  /** The object's name (`name.ts`); undefined for one that was not named. */
  readonly name: string | undefined;
  waitUntil(work: Promise<unknown>): void;
  readonly setAlarm: SetAlarm;
  /** Deletes another session; absent where there are no others. */
  readonly removeOther?: (id: SessionId) => Promise<unknown>;
  /** Stops another session's turn; absent as above. */
  readonly stopOther?: (id: SessionId) => Promise<unknown>;
  /** Has another isolate go on with a turn; absent where there is nobody to ask. */
  readonly run?: ((job: TurnJob) => Promise<void>) | undefined;
  /** Has another isolate tell the news of a task; absent as above. Rejects when they were not taken. */
  readonly push?: ((job: PushJob) => Promise<void>) | undefined;
  /** Milliseconds since the epoch. */
  now(): number;
}
