import type { Model } from "./models.ts";
import type { RenderedBlock } from "./render.ts";

const TTL_MS = { "5m": 5 * 60_000, "1h": 60 * 60_000 } as const;
/** How many positions a read looks at from a breakpoint, itself counted. */
export const LOOK_BACK = 20;

/** What a request costs at its front, as the API counts: `input_tokens` is only what is neither read nor written. */
export interface PromptUsage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number };
}

export interface CachePlan {
  readonly usage: PromptUsage;
  /**
   * The tokens of the longest prefix, in whole blocks, that this request shares with any earlier answered request of
   * the same scope that has not expired: what perfectly placed breakpoints would have read. 0 below the model's minimum.
   */
  readonly ideal: number;
  /** Makes what this request writes readable. To be called when its answer begins. */
  commit(): void;
}

interface Entry {
  readonly ttl: number;
  expires: number;
}

/** The provider's prompt cache. Hashes are those of `cacheChain`, so entries of different scopes never meet. */
export class PromptCache {
  readonly #written = new Map<string, Entry>();
  readonly #seen = new Map<string, Entry>();

  /** What a request that arrives at `now` (ms) reads and will write. A read entry lives on for its TTL. */
  plan(rendered: readonly RenderedBlock[], chain: readonly string[], model: Model, now: number): CachePlan {
    const sizes = runningSizes(rendered);
    const large = (index: number) => (sizes[index] ?? 0) >= model.minCacheTokens;
    const points = rendered.flatMap((block, index) =>
      block.breakpoint === null ? [] : [{ index, ttl: block.breakpoint }],
    );
    const usable = points.filter(({ index }) => large(index));
    const hit = this.#longestRead(usable, chain, now);
    const longest = chain.findLastIndex((hash) => isLive(this.#seen.get(hash), now));
    const seenTtl = points.some(({ ttl }) => ttl === "1h") ? TTL_MS["1h"] : TTL_MS["5m"];
    return {
      usage: splitUsage(usable, hit, sizes),
      ideal: large(longest) ? (sizes[longest] ?? 0) : 0,
      commit: () => {
        for (const { index, ttl } of usable) if (index > hit) write(this.#written, chain[index], TTL_MS[ttl], now);
        for (const hash of chain) write(this.#seen, hash, seenTtl, now);
      },
    };
  }

  #longestRead(points: readonly { index: number }[], chain: readonly string[], now: number): number {
    let longest = -1;
    for (const { index } of points) {
      for (let at = index; at > index - LOOK_BACK && at > longest; at -= 1) {
        if (isLive(this.#written.get(chain[at] ?? ""), now)) longest = at;
      }
    }
    const entry = this.#written.get(chain[longest] ?? "");
    if (entry !== undefined) entry.expires = now + entry.ttl;
    return longest;
  }
}

function isLive(entry: Entry | undefined, now: number): boolean {
  return entry !== undefined && entry.expires > now;
}

function write(entries: Map<string, Entry>, hash: string | undefined, ttl: number, now: number): void {
  if (hash === undefined) return;
  const before = entries.get(hash);
  const longer = isLive(before, now) ? Math.max(before?.ttl ?? 0, ttl) : ttl;
  entries.set(hash, { ttl: longer, expires: now + longer });
}

function runningSizes(rendered: readonly RenderedBlock[]): number[] {
  let sum = 0;
  return rendered.map((block) => {
    sum += block.tokens;
    return sum;
  });
}

/** With A the hit, B the last 1 h breakpoint after it and C the last breakpoint: read A, write B-A for 1 h and C-B for 5 min. */
function splitUsage(
  points: readonly { readonly index: number; readonly ttl: "5m" | "1h" }[],
  hit: number,
  sizes: readonly number[],
): PromptUsage {
  const size = (index: number) => sizes[index] ?? 0;
  const read = size(hit);
  const hour = points.findLast(({ index, ttl }) => ttl === "1h" && index > hit)?.index ?? hit;
  const last = Math.max(points.at(-1)?.index ?? hit, hit);
  const written = size(last) - read;
  return {
    input_tokens: (sizes.at(-1) ?? 0) - size(last),
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    cache_creation: {
      ephemeral_5m_input_tokens: size(last) - size(hour),
      ephemeral_1h_input_tokens: size(hour) - read,
    },
  };
}
