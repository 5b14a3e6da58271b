/** A tool's text beyond this is cut in the middle: what a model can use, and far below the 1 MB a row may take. */
export const RESULT_BYTES = 256 * 1024;

/** Base64 of the images and documents of one result. */
export const MEDIA_CHARS = 8 * 1024 * 1024;

/**
 * What the results of one answer's calls may take together, so that they fit one call of the session (32 MiB): that
 * carries their text twice, as entry and as rendered, and each time escaped.
 */
export const BATCH = { textBytes: 1024 * 1024, mediaChars: 16 * 1024 * 1024 } as const;

/** Workers hold at most six connections that wait for headers; a model stream and the session take two. */
export const CONCURRENT_CALLS = 4;

/** A step goes on for so long after its client has left; a Worker may work for 30 s more, and storing takes some. */
export const CLIENT_GONE_MS = 20_000;

/** A run that nobody waits for hands its turn over after so long: how long one may last is not documented. */
export const RUN_MS = 10 * 60_000;

/** Sub-sessions that work side by side; requests above what Workers send at once wait for their turn there. */
export const CONCURRENT_SUB_SESSIONS = 8;

/** How often a running turn tells its session that it lives, and asks whether to go on. */
export const BEAT_MS = 1_000;

/** A short lease has so many beats at least, as a share of it, or one that comes late would end it. */
export const BEAT_SHARE = 1 / 5;

/** A lease, where `HOLDFAST_LEASE_SECONDS` does not say otherwise. */
export const LEASE_SECONDS = 15;

/** Without an answer from the session for this share of its lease, a turn counts the lease as lost. */
export const SILENT_SHARE = 2 / 3;

/** So long a tool may take to stop once its turn was: what it stops elsewhere must be told before its isolate ends. */
export const STOP_GRACE_MS = 500;
