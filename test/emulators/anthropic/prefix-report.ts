import { whyNotExtends } from "./extends.ts";
import type { RecordedRequest } from "./record.ts";

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
  readonly conversation?: (request: RecordedRequest) => string;
}

/**
 * How stable the prefix of an agent server is, from the requests that a strict emulator recorded of it: are they valid,
 * does each extend the one before it in its conversation, what broke where it does not, and what the cache gave.
 */
export function prefixReport(
  requests: readonly RecordedRequest[],
  { conversation = modelOf }: PrefixReportOptions = {},
): PrefixReport {
  const asked = requests.filter(({ endpoint }) => endpoint === "messages");
  const last = new Map<string, RecordedRequest>();
  const breaks: PrefixReport["breaks"][number][] = [];
  const followers: RecordedRequest[] = [];
  for (const request of asked) {
    if (request.body === null) continue;
    const key = conversation(request);
    const before = last.get(key);
    last.set(key, request);
    if (before === undefined) continue;
    followers.push(request);
    const where = whyNotExtends(before.bodyText, request.bodyText);
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

function modelOf({ body }: RecordedRequest): string {
  return body?.model ?? "";
}

function inputOf(request: RecordedRequest): number {
  const { usage } = request;
  return usage === null ? 0 : usage.input_tokens + usage.cache_creation_input_tokens + readOf(request);
}

function readOf({ usage }: RecordedRequest): number {
  return usage?.cache_read_input_tokens ?? 0;
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
