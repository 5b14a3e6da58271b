import type { Quotas } from "../define/quotas.ts";
import type { Counted, SessionApi } from "../session/contract.ts";
import type { Observe } from "./observation.ts";
import type { Runtime, TurnRequest } from "./runtime.ts";
import type { Sink } from "./sink.ts";
import type { SubSessions } from "./transfer.ts";

/** What a turn needs of the world. */
export interface TurnDeps {
  readonly runtime: Runtime;
  readonly env: Cloudflare.Env;
  readonly session: SessionApi & Partial<Counted>;
  /** What owners may use; null counts nothing. */
  readonly quotas: Quotas | null;
  readonly sink: Sink;
  readonly now: () => number;
  /** A new id: hexadecimal, at least 64 random bits. */
  readonly mintId: () => string;
  /** Where tasks that agents hand over are worked on; without it they can't be. */
  readonly subSessions?: SubSessions;
  readonly log: (event: string, fields: Record<string, unknown>) => void;
  /** What is told of each model call, each tool call and the turn, when they are over. */
  readonly observe?: (request: TurnRequest) => Observe;
}

/** What a turn needs of the world, and who is told what it did. */
export type StepDeps = Omit<TurnDeps, "observe"> & {
  readonly observe: Observe | null;
  /** Somebody follows the turn who has nothing of it yet. */
  readonly attach: () => void;
};
