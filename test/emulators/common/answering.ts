import type { ServerResponse } from "node:http";
import type { Exchange, Open, RecordOf } from "./exchange.ts";
import { refused } from "./record.ts";

/** A request that is being answered: what the emulator remembers, its record, and what the rules made of it. */
export interface Answering<S, R extends Open<Exchange>, A> {
  readonly state: S;
  readonly response: ServerResponse;
  readonly record: R;
  readonly accepted: A;
  readonly requestId: string;
}

/** How an API fails. */
export interface Failures<F> {
  /** What the client gets where the test's script went wrong. */
  readonly scriptProblem: (problem: Error) => F;
  readonly sendFailure: (response: ServerResponse, requestId: string, failure: F) => void;
}

/**
 * Has a request answered; `answer` resolves to the failure that it is answered with instead, or null. What goes wrong is a
 * problem of the test's script: it is kept for the test, and the client gets a failure where it has nothing yet, or else
 * its connection is cut.
 */
export async function answering<F extends { readonly status: number }>(
  exchange: Answering<{ readonly problems: Error[] }, Open<RecordOf<unknown, F, unknown>>, unknown>,
  answer: () => Promise<F | null>,
  { scriptProblem, sendFailure }: Failures<F>,
): Promise<void> {
  const { state, response, record, requestId } = exchange;
  const fail = (failure: F) => {
    refused(record, failure);
    sendFailure(response, requestId, failure);
  };
  try {
    const failure = await answer();
    if (failure !== null) fail(failure);
  } catch (error) {
    const problem = error instanceof Error ? error : new Error(String(error));
    state.problems.push(problem);
    record.outcome = "failed";
    if (response.headersSent) response.destroy();
    else fail(scriptProblem(problem));
  }
}
