import { createCanaryWatch, type SeenText } from "./canaries.ts";

/** What an emulator in process makes of a request: the rules refuse it, or it can be answered. */
export type ReceivedOf<F, Q, U, P, E> = { readonly kind: "refused"; readonly failure: F } | AnswerableOf<Q, U, P, E>;

/** A request `Q` with what it costs, `U`, whose answer of parts `P` is spelled as records `E`. */
export interface AnswerableOf<Q, U, P, E> {
  readonly kind: "accepted";
  readonly request: Q;
  readonly usage: U;
  readonly idealCachedTokens: number;
  readonly flags: readonly string[];
  /** Spells an answer as the stream's records. What the request writes to the cache can be read from then on. */
  answer(parts: readonly P[]): E[];
}

/** What differs between the APIs. */
export interface LocalApi<F, Q, U, P, E> {
  examine(bodyText: string): Q | { readonly kind: "refused"; readonly failure: F };
  /** Reads the cache; `commit` makes what the request writes to it readable. */
  plan(request: Q, now: number): { readonly usage: U; readonly ideal: number; commit(): void };
  /** The texts that are watched for canaries. */
  seen(request: Q): readonly SeenText[];
  spell(parts: readonly P[], answering: Spelled<Q, U>): E[];
}

/** A request as its answer is spelled. */
export interface Spelled<Q, U> {
  readonly request: Q;
  readonly usage: U;
  /** 1 for the first request. */
  readonly n: number;
  readonly bodyText: string;
  /** When it arrived, in ms. */
  readonly now: number;
}

/** An emulator's rules and cache without HTTP: for tests that make very many requests. */
export class Local<F, Q extends { readonly kind: "accepted" }, U, P, E> {
  readonly #api: LocalApi<F, Q, U, P, E>;
  readonly #now: () => number;
  readonly #watch = createCanaryWatch();
  #received = 0;

  /** `now`: the clock, in ms. */
  constructor(api: LocalApi<F, Q, U, P, E>, now: () => number) {
    this.#api = api;
    this.#now = now;
  }

  /** Reads a request as the API would. */
  receive(bodyText: string): ReceivedOf<F, Q, U, P, E> {
    this.#received += 1;
    const n = this.#received;
    const api = this.#api;
    const request = api.examine(bodyText);
    if (request.kind === "refused") return request;
    const now = this.#now();
    const plan = api.plan(request, now);
    return {
      kind: "accepted",
      request,
      usage: plan.usage,
      idealCachedTokens: plan.ideal,
      flags: this.#watch(api.seen(request)),
      answer(parts) {
        const records = api.spell(parts, { request, usage: plan.usage, n, bodyText, now });
        plan.commit();
        return records;
      },
    };
  }
}
