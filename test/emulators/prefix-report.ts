import type { PromptUsage as AnthropicUsage } from "./anthropic/cache.ts";
import { bodyLayout } from "./anthropic/extends.ts";
import { type Layout, layoutDifference } from "./common/layout.ts";
import type { PromptUsage as OpenAIUsage } from "./openai/cache.ts";

/** As much of a recorded request as the report looks at, whichever emulator recorded it. */
export interface Reportable {
  readonly n: number;
  readonly bodyText: string;
  /** What was asked for; a request for anything but an answer is left out. */
  readonly endpoint?: string;
  /** The body, if it was accepted. */
  readonly body: { readonly model: string } | null;
  readonly error: { readonly rule: string; readonly message: string } | null;
  readonly usage: AnthropicUsage | OpenAIUsage | null;
  readonly idealCachedTokens: number;
  readonly flags: readonly string[];
}

/** What of a request changed against the one before it, so that it does not extend it. */
export type BreakCause = "settings" | "tools" | "system" | "deferred tools" | "messages";

/** What a server's requests came to, in numbers. Tokens are the emulator's, a quarter of the bytes. */
export interface PrefixReport {
  readonly requests: number;
  /** Refused by a rule of the API. */
  readonly refused: readonly { readonly n: number; readonly rule: string; readonly message: string }[];
  /** Requests that had one before them in their conversation, and of these those that extend it. */
  readonly followed: number;
  readonly extended: number;
  /** Each request that does not extend the one before it: the cause, and the first difference. */
  readonly breaks: readonly { readonly n: number; readonly cause: BreakCause; readonly where: string }[];
  /** Of the input of the requests that followed one: the shares that were read from the cache, and could have been. */
  readonly cachedShare: number;
  readonly cacheableShare: number;
  /** Places where a tool's output stands outside its result. */
  readonly flags: readonly string[];
}

export interface PrefixReportOptions {
  /** Which conversation a request belongs to. By default all requests of one model are one. */
  readonly conversation?: (request: Reportable) => string;
  /** How a body is read: Anthropic's by default, else `openai.bodyLayout` or `openaiChat.bodyLayout`. */
  readonly layout?: (body: string) => Layout;
}

/**
 * How stable the prefix of an agent server is, from the requests that a strict emulator recorded of it: are they valid,
 * does each extend the one before it in its conversation, what broke where it does not, and what the cache gave.
 */
export function prefixReport(
  requests: readonly Reportable[],
  { conversation = modelOf, layout = bodyLayout }: PrefixReportOptions = {},
): PrefixReport {
  const asked = requests.filter(({ endpoint = "messages" }) => ANSWERED.has(endpoint));
  const last = new Map<string, Reportable>();
  const breaks: PrefixReport["breaks"][number][] = [];
  const followers: Reportable[] = [];
  for (const request of asked) {
    if (request.body === null) continue;
    const key = conversation(request);
    const before = last.get(key);
    last.set(key, request);
    if (before === undefined) continue;
    followers.push(request);
    const where = layoutDifference(layout(before.bodyText), layout(request.bodyText));
    if (where !== null) breaks.push({ n: request.n, cause: causeOf(where), where });
  }
  const input = sum(followers, inputOf);
  return {
    requests: asked.length,
    refused: asked.flatMap(({ n, error, body }) =>
      error === null || body !== null ? [] : [{ n, rule: error.rule, message: error.message }],
    ),
    followed: followers.length,
    extended: followers.length - breaks.length,
    breaks,
    cachedShare: share(sum(followers, readOf), input),
    cacheableShare: share(
      sum(followers, ({ idealCachedTokens }) => idealCachedTokens),
      input,
    ),
    flags: asked.flatMap(({ n, flags }) => flags.map((flag) => `request ${n}: ${flag}`)),
  };
}

/** The report as a few lines to print. */
export function prefixReportText(report: PrefixReport): string {
  const { requests, refused, followed, extended, breaks, cachedShare, cacheableShare, flags } = report;
  const causes = new Map<string, number>();
  for (const { cause } of breaks) causes.set(cause, (causes.get(cause) ?? 0) + 1);
  const told = [...causes].map(([cause, count]) => `${count} by ${cause}`).join(", ");
  return [
    `requests    ${requests}, refused ${refused.length}`,
    ...refused.map(({ n, rule, message }) => `            request ${n}: ${rule} ${message}`),
    `extensions  ${extended} of ${followed}`,
    `breaks      ${breaks.length}${told === "" ? "" : `: ${told}`}`,
    ...breaks.map(({ n, where }) => `            request ${n}: ${where}`),
    `cached      ${percent(cachedShare)} of the input read from the cache, ${percent(cacheableShare)} were possible`,
    ...flags.map((flag) => `flagged     ${flag}`),
  ].join("\n");
}

const CAUSES: readonly (readonly [start: string, cause: BreakCause])[] = [
  ["settings", "settings"],
  ["inline tool", "tools"],
  ["system block", "system"],
  ["deferred tool", "deferred tools"],
];

function causeOf(where: string): BreakCause {
  return CAUSES.find(([start]) => where.startsWith(start))?.[1] ?? "messages";
}

/** The operations that a model answers. */
const ANSWERED: ReadonlySet<string> = new Set(["messages", "responses"]);

function modelOf({ body }: Reportable): string {
  return body?.model ?? "";
}

/** Anthropic counts what was neither read nor written, OpenAI all of it. */
function inputOf(request: Reportable): number {
  const { usage } = request;
  if (usage === null) return 0;
  if ("input_tokens_details" in usage) return usage.input_tokens;
  return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
}

function readOf({ usage }: Reportable): number {
  if (usage === null) return 0;
  return "input_tokens_details" in usage ? usage.input_tokens_details.cached_tokens : usage.cache_read_input_tokens;
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}
