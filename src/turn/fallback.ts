import type { Failure } from "../values/errors.ts";
import type { Model } from "./settings.ts";

/** A model that its provider asked to leave alone, and until when (milliseconds since the epoch). */
export interface Resting {
  readonly model: string;
  readonly until: number;
}

/** A provider's `retry-after` up to so many seconds is waited for even where another model could be asked. */
export const PATIENCE_SECONDS = 2;

/** Statuses by which a provider refuses the request itself: what is wrong with it would be wrong on any model. */
const REQUEST_REFUSED: readonly (number | null)[] = [400, 413, 422];

/** Whether a request that failed before the first byte of an answer is worth asking another model. */
export function fallsBack(failure: Failure): boolean {
  return failure.reason === "provider" && !REQUEST_REFUSED.includes(failure.status);
}

/** The first of the models that may be asked now, in their order; null where all of them rest. */
export function awake(models: readonly Model[], resting: readonly Resting[], now: number): Model | null {
  return models.find(({ full }) => resting.every(({ model, until }) => model !== full || until <= now)) ?? null;
}

/** Until when a model is to be left alone after this failure; nothing where its provider did not say. */
export function restAfter(failure: Failure | null, now: number): { readonly retryAt?: number } {
  if (failure?.reason !== "provider" || failure.retryAfter === undefined) return {};
  return { retryAt: now + failure.retryAfter * 1000 };
}
