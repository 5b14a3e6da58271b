import type { ModelEvent, Provider } from "../../src/providers/contract.ts";
import type { SharedPart } from "../emulators/common/answer.ts";
import type { Layout } from "../emulators/common/layout.ts";
import type { AnswerableOf, ReceivedOf } from "../emulators/common/local.ts";
import type { WireView } from "./wire-rules.ts";

/** What a strict emulator makes of a request. */
export type Met =
  | { readonly kind: "refused"; readonly failure: { readonly rule: string; readonly message: string } }
  | Answerable;

/** A request that the emulator accepts. */
export interface Answerable extends Terms {
  readonly kind: "accepted";
  /** Cached tokens that could have been read. */
  readonly ideal: number;
  readonly flags: readonly string[];
}

/** What each API has its own way to say of a request that it accepts. */
export interface Terms {
  /** Cached tokens that were read. */
  readonly read: number;
  /** All that can be read of this request once it is answered. */
  readonly cached: number;
  /** Behind the last marked place, how many blocks back the provider looks for what was written; none: as far as it takes. */
  readonly reach?: number;
  readonly visible: readonly string[];
  answer(parts: readonly SharedPart[]): Answered;
  /** What the provider answers where the request has it compact the context by itself, or lets it. */
  readonly compacted?: () => Answered;
}

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

/** An emulator in process as the rings meet it; `terms` says what is its API's own of a request that it accepts. */
export function meeting<F extends { readonly rule: string; readonly message: string }, Q, U, P, E>(
  model: { receive(body: string): ReceivedOf<F, Q, U, P, E> },
  terms: (accepted: AnswerableOf<Q, U, P, E>, body: string) => Terms,
): (body: string) => Met {
  return (body) => {
    const received = model.receive(body);
    if (received.kind === "refused") return received;
    const { idealCachedTokens: ideal, flags } = received;
    return { kind: "accepted", ideal, flags, ...terms(received, body) };
  };
}

/** An answer of these records, as our adapter's `read` takes them. */
export function streamed<E>(
  records: readonly E[],
  read: (arriving: AsyncIterable<E>) => AsyncIterable<ModelEvent>,
): Answered {
  return { length: records.length, read: (until) => read(arriving(records.slice(0, until))) };
}

async function* arriving<T>(records: readonly T[]): AsyncGenerator<T> {
  yield* records;
}
