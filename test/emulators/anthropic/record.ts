import type { Open, RecordOf } from "../common/exchange.ts";
import type { PromptUsage } from "./cache.ts";
import type { CacheMissReason } from "./diagnostics.ts";
import type { Endpoint } from "./examine.ts";
import type { Failure } from "./failure.ts";
import type { AnyRequest } from "./schema/request.ts";

/** What the emulator keeps of each request. */
export interface RecordedRequest extends RecordOf<AnyRequest, Failure, PromptUsage> {
  readonly endpoint: Endpoint;
  readonly cacheMissReason: CacheMissReason | null;
  /** The id of the answer. */
  readonly messageId: string | null;
}

/** The record while the emulator fills it. */
export type OpenRecord = Open<RecordedRequest>;
