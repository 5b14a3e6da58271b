import type { Diagnosis } from "../values/diagnosis.ts";
import { verdictText } from "../values/turn-event.ts";
import type { Usage } from "../values/usage.ts";
import type { CallRecord } from "./contract.ts";

/**
 * A model call as the ledger shows it. Hashes, counts and causes only: no tool's name, no load point and no id from
 * which one follows, nor the provider's id of the answer.
 */
export interface LedgerRow {
  readonly turn: string;
  readonly step: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly model: string;
  readonly chain: string;
  readonly epoch: number;
  /** As in the header `x-holdfast-prefix`: `extends`, `first`, or `break; cause=…`. */
  readonly prefix: string;
  /** Where the bytes are not those of the last request; only where the cause is `unexpected`. */
  readonly place: string | null;
  /** Running hash of what the provider renders, over so many segments. */
  readonly hash: string;
  readonly segments: number;
  /** Hash of the deferred definitions. */
  readonly deferredHash: string;
  /** `bytes` is the body's length. The counts are null for calls of a version that did not note them. */
  readonly sizes: {
    readonly bytes: number;
    readonly items: number | null;
    readonly inlineTools: number | null;
    readonly deferred: number | null;
  };
  readonly usage: Usage;
  readonly answered: boolean;
  /** `summary`: asked for a compaction, and no link of the chain. */
  readonly purpose: "answer" | "summary";
  /** What the provider found when it compared this request with the chain's last answered one; null where it was not asked. */
  readonly provider: Diagnosis | null;
}

export function ledgerRow(call: CallRecord): LedgerRow {
  const { turn, step, at, model, chain, epoch, place, hash, segments, deferredHash, usage, answered } = call;
  return {
    ...{ turn, step, at, model, chain, epoch },
    prefix: verdictText(call.verdict),
    ...{ place, hash, segments, deferredHash },
    sizes: {
      bytes: call.bytes,
      items: call.items ?? null,
      inlineTools: call.tools ?? null,
      deferred: call.deferred ?? null,
    },
    usage,
    answered,
    purpose: call.purpose ?? "answer",
    provider: call.provider ?? null,
  };
}
