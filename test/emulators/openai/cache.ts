import { createHash, type Hash } from "node:crypto";
import type { CacheKind } from "./models.ts";
import type { RenderedBlock } from "./render.ts";

/** No prefix below this is cached, in tokens. */
export const MIN_TOKENS = 1024;
/** The most boundaries that one request writes. */
export const MAX_WRITES = 4;
const FIRST_EXPLICIT = 2;
const LATEST_EXPLICIT = 50;
const EARLIER_ENDINGS = 20;

/** What a prompt costs at its front, as the API counts: `input_tokens` is all of it. */
export interface PromptUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
}

export interface CachePlan {
  readonly usage: PromptUsage;
  /**
   * What the most that this request shares with any earlier answered one would have given, whatever the keys and
   * whichever places were written: up to where a boundary can stand, or a step.
   */
  readonly ideal: number;
  /** Makes what this request writes readable. To be called when its answer begins. */
  commit(): void;
}

/** What a request says about its place in the cache, besides the bytes of its prompt. */
export interface CacheTerms {
  readonly cache: CacheKind;
  /** What the cache is separate for, in one text. */
  readonly scope: string;
  /** `prompt_cache_key`; empty if there is none. */
  readonly key: string;
  /** How long a prefix stays, in ms, from its last use. */
  readonly ttl: number;
  /** Only explicit boundaries count. */
  readonly explicitOnly: boolean;
}

/** A place in the prompt: the hash of everything up to it, and how many tokens that is. */
interface Place {
  readonly hash: string;
  readonly tokens: number;
}

/**
 * The provider's prompt cache: implicit in steps of so many tokens, or at boundaries. A cache of its own for each
 * `prompt_cache_key`: the API only says that the key helps, so nothing else can be relied on.
 */
export class PromptCache {
  readonly #written = new Map<string, number>();
  readonly #seen = new Map<string, number>();

  /** What a request that arrives at `now` (ms) reads and will write. What is read lives on. */
  plan(rendered: readonly RenderedBlock[], terms: CacheTerms, now: number): CachePlan {
    const { cache, scope, ttl } = terms;
    const key = `${scope}\n${terms.key}`;
    const total = Math.ceil(rendered.reduce((sum, { bytes }) => sum + Buffer.byteLength(bytes), 0) / 4);
    const blocks = places(rendered);
    const steps = cache.kind === "steps" ? stepPlaces(rendered, cache.step) : null;
    const lookups = steps ?? boundaryLookups(rendered, blocks, terms);
    const writes = steps ?? boundaryWrites(rendered, blocks, terms);
    const hit = lookups.findLast(({ hash }) => alive(this.#written, key + hash, now));
    const cached = hit?.tokens ?? 0;
    const last = cache.kind === "steps" ? cached : Math.max(cached, writes.at(-1)?.tokens ?? 0);
    const seenPlaces = steps ?? pick(blocks, new Set(indexes(rendered, ({ explicit, ending }) => explicit || ending)));
    const ideal = seenPlaces.findLast(({ hash }) => alive(this.#seen, scope + hash, now))?.tokens ?? 0;
    if (hit !== undefined) this.#written.set(key + hit.hash, now + ttl);
    return {
      usage: {
        input_tokens: total,
        input_tokens_details: { cached_tokens: cached, cache_write_tokens: last - cached },
      },
      ideal,
      commit: () => {
        for (const { hash } of writes) this.#written.set(key + hash, now + ttl);
        for (const { hash } of seenPlaces) this.#seen.set(scope + hash, now + ttl);
      },
    };
  }
}

function alive(entries: ReadonlyMap<string, number>, hash: string, now: number): boolean {
  return (entries.get(hash) ?? 0) > now;
}

/** The end of each block. */
function places(rendered: readonly RenderedBlock[]): Place[] {
  const running = createHash("sha256");
  let bytes = 0;
  return rendered.map((block) => {
    running.update(block.bytes).update("\0");
    bytes += Buffer.byteLength(block.bytes);
    return { hash: digest(running), tokens: Math.ceil(bytes / 4) };
  });
}

/** Every multiple of `step` tokens from the minimum on. */
function stepPlaces(rendered: readonly RenderedBlock[], step: number): Place[] {
  const prompt = Buffer.concat(rendered.map(({ bytes }) => Buffer.from(bytes)));
  const running = createHash("sha256");
  const found: Place[] = [];
  for (let tokens = step; tokens * 4 <= prompt.length; tokens += step) {
    running.update(prompt.subarray((tokens - step) * 4, tokens * 4));
    if (tokens >= MIN_TOKENS) found.push({ hash: digest(running), tokens });
  }
  return found;
}

function digest(running: Hash): string {
  return running.copy().digest("base64url");
}

/** Where a request looks for what an earlier one wrote. */
function boundaryLookups(
  rendered: readonly RenderedBlock[],
  blocks: readonly Place[],
  { explicitOnly }: CacheTerms,
): Place[] {
  const explicit = indexes(rendered, ({ explicit }) => explicit);
  const endings = indexes(rendered, ({ ending }) => ending);
  const implicit = explicitOnly ? [] : endings.slice(-1 - EARLIER_ENDINGS);
  const wanted = new Set([...explicit.slice(0, FIRST_EXPLICIT), ...explicit.slice(-LATEST_EXPLICIT), ...implicit]);
  return pick(blocks, wanted);
}

/** Where a request writes: its last ending unless it wants explicit boundaries only, and its latest explicit ones. */
function boundaryWrites(
  rendered: readonly RenderedBlock[],
  blocks: readonly Place[],
  { explicitOnly }: CacheTerms,
): Place[] {
  const implicit = explicitOnly ? [] : indexes(rendered, ({ ending }) => ending).slice(-1);
  const explicit = indexes(rendered, ({ explicit }) => explicit).slice(implicit.length - MAX_WRITES);
  return pick(blocks, new Set([...implicit, ...explicit]));
}

function pick(blocks: readonly Place[], wanted: ReadonlySet<number>): Place[] {
  return blocks.filter(({ tokens }, index) => wanted.has(index) && tokens >= MIN_TOKENS);
}

function indexes(rendered: readonly RenderedBlock[], test: (block: RenderedBlock) => boolean): number[] {
  return rendered.flatMap((block, index) => (test(block) ? [index] : []));
}
