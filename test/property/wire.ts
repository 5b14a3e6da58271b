import type { ModelEvent, Provider } from "../../src/providers/contract.ts";
import type { SharedPart } from "../emulators/common/answer.ts";
import type { Layout } from "../emulators/common/layout.ts";
import type { WireView } from "./wire-rules.ts";

/** What a strict emulator makes of a request. */
export type Met =
  | { readonly kind: "refused"; readonly failure: { readonly rule: string; readonly message: string } }
  | {
      readonly kind: "accepted";
      /** Cached tokens: read, and what could have been read. */
      readonly read: number;
      readonly ideal: number;
      /** All that can be read of this request once it is answered. */
      readonly cached: number;
      /** Behind the last marked place, how many blocks back the provider looks for what was written; none: as far as it takes. */
      readonly reach?: number;
      readonly flags: readonly string[];
      readonly visible: readonly string[];
      answer(parts: readonly SharedPart[]): Answered;
      /** What the provider answers where the request has it compact the context by itself, or lets it. */
      readonly compacted?: () => Answered;
    };

/** An answer as so many records of a stream, of which a reader may get only the first few. */
export interface Answered {
  readonly length: number;
  read(until: number): AsyncIterable<ModelEvent>;
}

/** An API as the rings see it: our adapter to it, its emulator in process, and what its requests show. */
export interface Wire {
  readonly provider: Provider;
  view(body: string): WireView;
  layout(body: string): Layout;
  /** What no request of ours to this API may show, besides the rules for all of them. */
  problems(body: string): string[];
  /** A model of this API with a cache of its own. */
  local(now: () => number): (body: string) => Met;
}

/** Records of a stream as they arrive. */
export async function* arriving<T>(events: readonly T[]): AsyncGenerator<T> {
  yield* events;
}
