import type { Exchange, Open } from "../common/exchange.ts";
import type { PromptUsage } from "./cache.ts";
import type { Failure } from "./failure.ts";
import type { Endpoint } from "./rules/rule.ts";
import type { AnyRequest } from "./schema/request.ts";

/** What the emulator keeps of each request. */
export interface RecordedRequest extends Exchange {
  readonly endpoint: Endpoint;
  /** The body, if it was accepted. */
  readonly body: AnyRequest | null;
  /** The rule that refused it. */
  readonly error: Failure | null;
  /** The names that the model can call; `tool_search` for the client's own search. */
  readonly visible: readonly string[];
  readonly usage: PromptUsage | null;
  /** What perfectly placed boundaries and one key would have read, in tokens. */
  readonly idealCachedTokens: number;
  /** Things that no rule forbids and that should not be, such as tool output outside its result. */
  readonly flags: readonly string[];
  /** The id of the answer. */
  readonly responseId: string | null;
}

/** The record while the emulator fills it. */
export type OpenRecord = Open<RecordedRequest>;
