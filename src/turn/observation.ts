import type { CallRecord } from "../session/contract.ts";
import type { Status } from "../values/entry.ts";
import type { Failure } from "../values/errors.ts";
import type { Usage } from "../values/usage.ts";

/** Something of a turn that is over. Times in milliseconds since the epoch; in Workers the clock moves with I/O only. */
export type Observation = { readonly startedAt: number; readonly endedAt: number } & (
  | {
      readonly type: "model";
      readonly provider: string;
      /** The model's name without its provider. */
      readonly model: string;
      /** When the answer began; null where none did. */
      readonly firstAt: number | null;
      readonly record: CallRecord;
      readonly failure: Failure | null;
    }
  | { readonly type: "tool"; readonly call: string; readonly name: string; readonly status: Status }
  | {
      readonly type: "turn";
      readonly turn: string;
      readonly status: "done" | "stopped" | "failed" | "handed_over";
      readonly usage: Usage;
      readonly failure: Failure | null;
    }
);

/** Is told what a turn did. Returns at once and never throws. */
export type Observe = (observed: Observation) => void;
