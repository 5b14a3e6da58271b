import type { CallRecord } from "../session/contract.ts";
import type { Answer } from "./answer.ts";
import type { Prepared } from "./prepare.ts";

/** What the ledger keeps of a request and of what came back. */
export function callRecord(
  call: Pick<CallRecord, "turn" | "step" | "at" | "model" | "chain">,
  { body, chain, verdict, place, fingerprint, deferredHash, end, compared }: Prepared,
  { begun, message, diagnosis, usage }: Answer,
): CallRecord {
  return {
    ...call,
    epoch: chain.epoch,
    verdict,
    place,
    hash: fingerprint.hash,
    segments: fingerprint.segments,
    deferredHash,
    bytes: Buffer.byteLength(body),
    end,
    answered: begun,
    usage,
    items: chain.items.length,
    tools: chain.prefix.tools.length,
    deferred: chain.deferred.length,
    ...(message === null ? {} : { message }),
    // Asked and answered without a word: there was nothing to say.
    ...(compared && begun ? { provider: diagnosis ?? { missReason: null } } : {}),
  };
}
