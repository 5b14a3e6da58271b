import type { Open, RecordOf } from "../common/exchange.ts";
import type { PromptUsage } from "./cache.ts";
import type { Failure } from "./failure.ts";
import type { Endpoint } from "./rules/rule.ts";
import type { AnyRequest } from "./schema/request.ts";

/** What the emulator keeps of each request; `tool_search` is the visible name of the client's own search. */
export interface RecordedRequest extends RecordOf<AnyRequest, Failure, PromptUsage> {
  readonly endpoint: Endpoint;
  /** The id of the answer. */
  readonly responseId: string | null;
}

/** The record while the emulator fills it. */
export type OpenRecord = Open<RecordedRequest>;
