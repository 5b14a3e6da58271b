/** How a request ended: not yet, with a whole answer, with a failure, cut by the emulator, or left by the client. */
export type Outcome = "open" | "answered" | "failed" | "cut" | "client_gone";

/** What every emulator keeps of each request. Filled as the request goes on. */
export interface Exchange {
  /** 1 for the first request. */
  readonly n: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
  /** The parsed JSON, whatever it is; `null` if it is none. */
  readonly json: unknown;
  /** When it arrived, by the emulator's clock, in ms. */
  readonly at: number;
  /** 0 while nothing has been answered. */
  readonly status: number;
  readonly outcome: Outcome;
  /** How many events have been sent. */
  readonly events: number;
}

/** The same of an API whose bodies are `B`, that refuses with `F` and counts `U`. */
export interface RecordOf<B, F, U> extends Exchange {
  /** The body, if it was accepted. */
  readonly body: B | null;
  /** The rule that refused it. */
  readonly error: F | null;
  /** The names that the model can call. */
  readonly visible: readonly string[];
  readonly usage: U | null;
  /** What a request that is placed and keyed as well as can be would have read from the cache, in tokens. */
  readonly idealCachedTokens: number;
  /** Things that no rule forbids and that should not be, such as tool output outside its result. */
  readonly flags: readonly string[];
}

/** A record while the emulator fills it. */
export type Open<E> = { -readonly [K in keyof E]: E[K] };
