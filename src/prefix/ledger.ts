import { createHash } from "node:crypto";

/** What a request renders, in the provider's order, cut where a cache could be cut. */
export type Segments = readonly string[];

export interface Fingerprint {
  readonly hash: string;
  readonly segments: number;
}

/**
 * The running hash over all segments, and the one that stood after the first `earlier.segments` of them. A request
 * extends an earlier one exactly when that second hash is the earlier one's. Each segment is hashed with its length, so
 * that no two lists of segments share a hash by being cut elsewhere.
 */
export function fingerprint(segments: Segments, earlier: Fingerprint | null): Fingerprint & { extends: boolean } {
  const running = createHash("sha256");
  let extendsEarlier = false;
  segments.forEach((segment, index) => {
    running.update(`${segment.length}:`);
    running.update(segment);
    if (earlier !== null && index + 1 === earlier.segments) {
      extendsEarlier = running.copy().digest("hex") === earlier.hash;
    }
  });
  return { hash: running.digest("hex"), segments: segments.length, extends: extendsEarlier };
}
