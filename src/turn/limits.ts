/** A tool's text beyond this is cut in the middle: what a model can use, and far below the 1 MB a row may take. */
export const RESULT_BYTES = 256 * 1024;

/** Workers hold at most six connections that wait for headers; a model stream and the session take two. */
export const CONCURRENT_CALLS = 4;

/** How often a running turn tells its session that it lives, and asks whether to go on. */
export const BEAT_MS = 1_000;

/** Without an answer from the session for this long, a turn counts its lease as lost (it is 15 s there). */
export const SILENCE_MS = 10_000;

/** A lease, where `HOLDFAST_LEASE_SECONDS` does not say otherwise. */
export const LEASE_SECONDS = 15;
