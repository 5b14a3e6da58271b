import type { SessionId } from "./contract.ts";
import type { Store } from "./store.ts";

/** Where a task's news go. `text` is JSON in the surface's own form. */
export interface Push {
  readonly id: string;
  readonly text: string;
}

/** News of a task that is to be told: `rev` is the revision that made it. Due in milliseconds since the epoch. */
export type Delivery = {
  readonly task: string;
  readonly id: string;
  readonly rev: number;
  readonly tries: number;
  readonly due: number;
};

/** What an isolate is asked that tells the news of a task: how it stands then, to that receiver. */
export interface PushJob {
  readonly v: 1;
  readonly id: SessionId;
  readonly turn: string;
  readonly push: string;
}

/** What became of a push that was to be kept. */
export type PushKept = "kept" | "full" | "unknown";

/** More receivers nobody needs, and each costs requests. */
export const MOST_PUSHES = 10;

/** After so many tries, over an hour, a receiver counts as gone. */
export const MOST_TRIES = 20;

/** The task came to stand otherwise: all its receivers are to be told. */
export function announce(store: Store, rev: number, task: string, due: number): void {
  for (const { id } of store.pushes(task)) store.setDelivery({ task, id, rev, tries: 0, due });
}
