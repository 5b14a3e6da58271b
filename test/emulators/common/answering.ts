import type { ServerResponse } from "node:http";
import type { Exchange, Open } from "./exchange.ts";

/** A request that is being answered. */
export interface Answering {
  readonly state: { readonly problems: Error[] };
  readonly response: ServerResponse;
  readonly record: Pick<Open<Exchange>, "outcome">;
}

/**
 * Has a request answered. What goes wrong is a problem of the test's script: it is kept for the test, and the client gets
 * `fail`'s answer where it has nothing yet, or else its connection is cut.
 */
export async function answering(
  { state, response, record }: Answering,
  answer: () => Promise<void>,
  fail: (problem: Error) => void,
): Promise<void> {
  try {
    await answer();
  } catch (error) {
    const problem = error instanceof Error ? error : new Error(String(error));
    state.problems.push(problem);
    record.outcome = "failed";
    if (response.headersSent) response.destroy();
    else fail(problem);
  }
}
