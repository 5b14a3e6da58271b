import type { PromptUsage } from "./cache.ts";
import type { CacheMissReason } from "./diagnostics.ts";
import type { Endpoint } from "./examine.ts";
import type { Failure } from "./failure.ts";
import type { AnyRequest } from "./schema/request.ts";

/** How a request ended: not yet, with a whole answer, with a failure, cut by the emulator, or left by the client. */
export type Outcome = "open" | "answered" | "failed" | "cut" | "client_gone";

/** What the emulator keeps of each request. Filled as the request goes on. */
export interface RecordedRequest {
  /** 1 for the first request. */
  readonly n: number;
  readonly endpoint: Endpoint;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
  /** The parsed JSON, whatever it is; `null` if it is none. */
  readonly json: unknown;
  /** The body, if it was accepted. */
  readonly body: AnyRequest | null;
  /** When it arrived, by the emulator's clock, in ms. */
  readonly at: number;
  /** 0 while nothing has been answered. */
  readonly status: number;
  /** The rule that refused it. */
  readonly error: Failure | null;
  readonly outcome: Outcome;
  /** The names that the model can call. */
  readonly visible: readonly string[];
  readonly usage: PromptUsage | null;
  /** What perfectly placed breakpoints would have read, in tokens. */
  readonly idealCachedTokens: number;
  readonly cacheMissReason: CacheMissReason | null;
  /** Things that no rule forbids and that should not be, such as tool output outside its result. */
  readonly flags: readonly string[];
  /** The id of the answer. */
  readonly messageId: string | null;
  /** How many events have been sent. */
  readonly events: number;
}

/** The record while the emulator fills it. */
export type OpenRecord = { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] };
