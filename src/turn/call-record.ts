import type { CallRecord } from "../session/contract.ts";
import type { Answer } from "./answer.ts";
import type { Prepared } from "./prepare.ts";

/** A request as far as it matters once it goes out. */
export type Sendable = Pick<
  Prepared,
  "body" | "end" | "compared" | "chain" | "tail" | "verdict" | "place" | "fingerprint" | "bare" | "deferredHash"
>;

/** What the ledger keeps of a request and of what came back. `kept`: what came is a message, and stays. */
export function callRecord(
  call: Pick<CallRecord, "turn" | "step" | "at" | "model" | "chain" | "purpose">,
  { body, chain, tail, verdict, place, fingerprint, bare, deferredHash, end, compared }: Sendable,
  { begun, message, diagnosis, usage }: Answer,
  kept: boolean,
  rest: Pick<CallRecord, "retryAt"> = {},
): CallRecord {
  // What no message followed is left behind, and with it the end marker that stood there.
  const { hash, segments } = kept ? fingerprint : bare;
  return {
    ...call,
    epoch: chain.epoch,
    verdict,
    place,
    hash,
    segments,
    deferredHash,
    bytes: Buffer.byteLength(body),
    end: kept || tail.length === 0 ? end : null,
    answered: begun,
    usage,
    items: chain.items.length + (kept ? tail.length : 0),
    tools: chain.prefix.tools.length,
    deferred: chain.deferred.length,
    ...rest,
    ...(message === null ? {} : { message }),
    // Asked and answered without a word: there was nothing to say.
    ...(compared && begun ? { provider: diagnosis ?? { missReason: null } } : {}),
  };
}
