import type { Diagnosis } from "../values/diagnosis.ts";
import type { Block, Numbered, Stop } from "../values/entry.ts";
import type { CallSettings, EpochSettings } from "../values/settings.ts";
import type { ToolSpec } from "../values/tool.ts";
import type { ToolDeferrals } from "../values/tool-deferrals.ts";
import type { Usage } from "../values/usage.ts";

/** What a model can do and what it refuses, from the provider's table. Sizes in tokens. */
export interface ModelFacts {
  /** Takes deferred definitions with load points. Without it late tools go inline (`late_inline`). */
  readonly deferral: boolean;
  /** Tools can be withheld without touching the prefix; without it a mode is a chain of its own. */
  readonly toolChanges: boolean;
  /** Signed thinking is bound to the exact prefix: a replay behind another prefix is refused. */
  readonly bound: boolean;
  /** Drops the thinking of earlier turns when a user message comes, which changes the prefix from there on. */
  readonly dropsThinking: boolean;
  /** The smallest prefix that is cached. */
  readonly minCache: number;
  readonly window: number;
  readonly maxOutput: number;
  /** Request fields the model answers with an error; they are dropped and named to the caller. */
  readonly refuses: ReadonlySet<"temperature" | "topP" | "effort" | "stop">;
  /** The highest temperature it takes; none is too high unless given. */
  readonly maxTemperature?: number;
  /** Takes `temperature` or `topP`, not both in one request. */
  readonly oneSampling?: boolean;
  readonly thinking: "none" | "manual" | "adaptive";
  /**
   * The provider can compact a context by itself: once it is as long as the settings say
   * ({@link EpochSettings.compactAt}), or where a request ends with {@link Provider.compactionTrigger}.
   */
  readonly compacts?: "at_length" | "when_asked";
  /** Says on request why its cache could not reuse all of an earlier request. */
  readonly diagnostics?: boolean;
  /** Load points work only where the search tool is among the inline tools; elsewhere late tools go inline. */
  readonly deferralBySearch?: boolean;
}

/** A piece of the request's body in the provider's own order, as the exact bytes first sent. */
export interface Item {
  /** The entry it came from. Companions belong to the entry whose call they follow. */
  readonly seq: number;
  readonly role: "user" | "assistant" | "system";
  /** JSON text of one block. Blob contents stand as {@link blobToken}, replaced when the body is written. */
  readonly bytes: string;
  /** Can carry a cache marker. */
  readonly markable: boolean;
  /** What a user said, not what a tool did. */
  readonly message?: true;
  /** Names whose definitions the provider renders at this item. */
  readonly loads?: readonly string[];
  /** Holds an image: the first of a session makes some providers drop their message cache. */
  readonly image?: true;
  /** Stands before its entry and is no part of it. */
  readonly ahead?: true;
  /** The tool that the model may not call from here on, or may call again. */
  readonly withholds?: string;
  readonly restores?: string;
  /** Holds an image or document, which a provider may be unable to fetch or read. */
  readonly media?: true;
}

/** A tool definition as first sent. */
export interface Definition {
  readonly name: string;
  readonly bytes: string;
}

/** What stands before the messages, fixed for an epoch. All of it exact JSON text. */
export interface Prefix {
  /** The body's fields that are part of the cache key, without tools, system and messages: `"model":…,"thinking":…`. */
  readonly settings: string;
  readonly tools: readonly Definition[];
  readonly system: readonly string[];
  /** How long the provider keeps what the markers write. */
  readonly ttl: "5m" | "1h";
}

/** One request, as frozen bytes plus what may vary. */
export interface ModelRequest {
  readonly model: string;
  readonly prefix: Prefix;
  readonly deferred: readonly Definition[];
  readonly items: readonly Item[];
  /** Declared names that the mode withholds, where the model takes that ({@link ModelFacts.toolChanges}). */
  readonly withheld: readonly string[];
  /** Index into `items` of the block that carried the end marker in the chain's last answered request. */
  readonly anchor: number | null;
  readonly call: CallSettings;
  /** The provider's id of the chain's last answer, to be asked what of that request could be reused. */
  readonly previous: string | null;
  /** Blob contents by hash, base64. */
  readonly blobs: ReadonlyMap<string, string>;
}

/** What `items` is rendered from: entries in effective order, of which only those not yet sent in this epoch. */
export interface RenderInput {
  /** The epoch's inline tools as frozen, from which a renderer sees the form that the epoch began with. */
  readonly tools: readonly Definition[];
  /** Entries to render, in effective order; results follow their assistant entry. */
  readonly entries: readonly Numbered[];
  readonly deferrals: ToolDeferrals;
  /** Names that the request declares, inline or deferred: references name nothing else. */
  readonly declared: ReadonlySet<string>;
  /** The model takes load points; without it a search's result is sent as any other. */
  readonly deferral: boolean;
  /** Thinking is replayed only for entries of this chain and epoch … */
  readonly chain: string;
  readonly epoch: number;
  /** … and, where signatures are not bound to the prefix, of the turn that is running (design §1). */
  readonly runningTurn: string | null;
}

/** What comes from the model, while it comes. */
export type ModelEvent =
  /** The first byte of the answer: from here on the request counts as answered. `id` is the provider's. */
  | { readonly type: "begun"; readonly id: string; readonly diagnosis?: Diagnosis }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /**
   * The provider compacted what came before by itself. `raw` is its block, as JSON text, to be sent back as it is.
   * `summary` is null where only the provider can read it.
   */
  | { readonly type: "compacted"; readonly summary: string | null; readonly raw: string }
  /** A block is complete. Text that was already streamed comes again here, whole. */
  | { readonly type: "block"; readonly block: Block }
  | { readonly type: "usage"; readonly usage: Usage }
  /** The last event of an answer that ended as it should. `detail` is for the caller (a refusal's explanation). */
  | { readonly type: "stop"; readonly stop: Exclude<Stop, "stopped" | "cut">; readonly detail?: string };

/** What a provider may use while it talks to the network. */
export interface ProviderDeps {
  readonly env: Cloudflare.Env;
  readonly signal: AbortSignal;
  /** A request that a provider wants to see again only after more than so many seconds is not sent again here. */
  readonly patience?: number;
}

/** Tries after the first, by the SDK, which respects `retry-after`; never once an answer has begun. */
export const RETRIES = 1;

/**
 * A compiler from entries to one provider's wire format, and the wire itself. Everything but `stream` is pure. It knows
 * nothing of sessions.
 */
export interface Provider {
  readonly name: string;
  /** Version of the renderer, `anthropic/1`. It rises whenever the same entries would give other bytes. */
  readonly wire: string;
  facts(model: string): ModelFacts;
  /** Why the provider can't be used with these bindings (no key), or null. Safe for the caller to read. */
  missing(env: Cloudflare.Env): string | null;
  /** `cacheKey`: 32 hex digits, the same for all requests of a session. */
  settings(model: string, settings: EpochSettings, cacheKey: string): string;
  /** Frozen settings, changed so that the model can call no tool. */
  withoutCalls(settings: string): string;
  system(text: string): string[];
  define(tool: ToolSpec, deferred: boolean, model: string): Definition;
  /** The input schema that a frozen definition tells the model. */
  schema(definition: Definition): Readonly<Record<string, unknown>>;
  items(input: RenderInput): Item[];
  /**
   * The bytes that tell the model, behind what was said, to do without a declared tool or to have it again. Only where
   * {@link ModelFacts.toolChanges}; a provider without it goes by {@link ModelRequest.withheld}.
   */
  toolChange?(change: "withhold" | "restore", name: string): string;
  /**
   * The item, as JSON text, at whose end of a request the answer is nothing but the provider's own compaction of what
   * stands before it. Only where {@link ModelFacts.compacts} is `when_asked`.
   */
  readonly compactionTrigger?: string;
  /**
   * Writes the body. `end` is the index of the item that carries the end marker, or null where there is none; `compared`
   * says that the body asks for a diagnosis against `previous`.
   */
  body(request: ModelRequest): { readonly body: string; readonly end: number | null; readonly compared?: boolean };
  /**
   * Sends the body and yields the answer. Throws {@link HoldfastError} with reason `provider` for every refusal,
   * overload or broken connection; what was yielded before stays valid.
   */
  stream(model: string, body: string, deps: ProviderDeps): AsyncIterable<ModelEvent>;
}

/** Stands for a blob's base64 text inside an item's bytes. U+0001 never occurs raw in JSON text. */
export function blobToken(hash: string): string {
  return `\u0001${hash}\u0001`;
}
