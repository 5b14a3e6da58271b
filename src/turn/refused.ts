import type { Item } from "../providers/contract.ts";
import type { Failure } from "../values/errors.ts";

/** Statuses by which a provider refuses the request itself, whoever sends it and whenever. */
const REFUSALS: readonly (number | null)[] = [400, 413, 422];

/** Whether a provider says that the request is longer than the model takes, or than its API does. */
export function isTooLong(failure: Failure): boolean {
  if (failure.reason !== "provider" || !REFUSALS.includes(failure.status)) return false;
  if (failure.status === 413 || failure.type === "context_length_exceeded") return true;
  return /prompt is too long|context (length|window|limit)|maximum context|exceeds? the model/i.test(failure.message);
}

/**
 * Whether a provider refuses what it made itself and gets back: thinking, or a compaction, that was signed or encrypted for
 * another account, or that the model does not take.
 */
export function refusesItsOwn(failure: Failure): boolean {
  if (failure.reason !== "provider" || failure.status !== 400) return false;
  if (failure.type === "invalid_encrypted_content") return true;
  return /invalid `?signature`? in `?thinking`?|\bcompaction\b/i.test(failure.message);
}

/**
 * Whether a provider refuses what a request added, so that it would refuse every later one that holds it: an image or
 * document that it can't fetch or read, or more than the model takes. Any other refusal is not the content's fault.
 */
export function isRefused(failure: Failure, added: readonly Item[]): boolean {
  if (failure.reason !== "provider" || !REFUSALS.includes(failure.status)) return false;
  return isTooLong(failure) || /too (long|large)/i.test(failure.message) || added.some((item) => item.media);
}
