import { type AnswerOf, flatten, type Point, type Steering } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import type { Parking } from "./parking.ts";

/** Plays the model: given a request, says what it answers. What it throws is a problem of the test. */
export type AnswererOf<P, Q> = (request: Q) => AnswerOf<P> | Promise<AnswerOf<P>>;

/** A parking and which requests are to stop there. */
export interface ParkingOrder<E> {
  readonly predicate: (request: E) => boolean;
  readonly at: Point;
  readonly parking: Parking<E>;
}

/** What every emulator remembers: `P` are the parts of its answers, `Q` a request as an answerer sees it, `E` its record. */
export interface Script<P, Q, E> {
  readonly requests: E[];
  readonly problems: Error[];
  readonly answers: (AnswerOf<P> | AnswererOf<P, Q>)[];
  readonly failures: P[];
  readonly parkings: ParkingOrder<E>[];
  answerer: AnswererOf<P, Q> | undefined;
}

/** A script that is still empty. */
export function emptyScript<P, Q, E>(answerer: AnswererOf<P, Q> | undefined): Script<P, Q, E> {
  return { requests: [], problems: [], answers: [], failures: [], parkings: [], answerer };
}

/** The parts of the next answer: an injected failure, else the script's, else the answerer's. Throws if there is none. */
export async function nextParts<P extends { readonly kind: string }, Q extends Exchange, E>(
  script: Script<P, Q, E>,
  request: Q & { readonly lastUserText: string },
): Promise<readonly P[]> {
  const failure = script.failures.shift();
  if (failure !== undefined) return [failure];
  const next = script.answers.shift() ?? script.answerer;
  if (next === undefined) throw new Error(`No answer is left for request ${request.n}: ${request.lastUserText}`);
  return flatten(isAnswerer(next) ? await next(request) : next);
}

function isAnswerer<P, Q>(next: AnswerOf<P> | AnswererOf<P, Q>): next is AnswererOf<P, Q> {
  return typeof next === "function";
}

/** The parkings that wait for a request, as parts of its answer. */
export function parkingsFor<P, Q, E extends Exchange>({ parkings }: Script<P, Q, E>, record: E): Steering[] {
  return parkings
    .filter(({ predicate }) => predicate(record))
    .map(({ at, parking }) => ({ kind: "park", at, parking }));
}
