import type { GuardedFetch } from "./guarded-fetch.ts";

/** The same way out for as long as `signal` lasts: what is under way then is aborted, and what nobody has read is let go of. */
export function fetchWithin(fetch: GuardedFetch, signal: AbortSignal): GuardedFetch {
  return function within(input, init = {}) {
    const own = init.signal ?? (input instanceof Request ? input.signal : null);
    return fetch(input, { ...init, signal: own === null ? signal : AbortSignal.any([signal, own]) });
  };
}
