import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AnswerOf, Point } from "./answer.ts";
import { createParking, type Parking } from "./parking.ts";
import type { AnswererOf, Script } from "./script.ts";

/**
 * A running emulator of a provider's API. `P` are the parts of its answers, `Q` a request as an answerer sees it, `E`
 * its record, `F` the failures that can be injected.
 */
export interface EmulatorOf<P, Q, E, F extends P> {
  /** The base URL for a client. */
  readonly url: string;
  readonly port: number;
  /** All requests, in the order in which they arrived. */
  readonly requests: readonly E[];
  /** What scripts did that no model would do, such as calling a tool that is not visible. */
  readonly problems: readonly Error[];
  /** Sets who plays the model when no script is left. */
  answer(answerer: AnswererOf<P, Q>): void;
  /** Adds answers for the next requests, one each. They go before the answerer. */
  script(...answers: readonly (AnswerOf<P> | AnswererOf<P, Q>)[]): void;
  /** Adds failures for the next valid requests, one each. They go before scripts and the answerer. */
  fail(...failures: readonly F[]): void;
  /** Lets every request that `predicate` picks wait at `at`: before its headers (the default), or after so many events. */
  park(predicate: (request: E) => boolean, at?: Point): Parking<E>;
  /** Gives the problems and forgets them. */
  takeProblems(): Error[];
  /** Forgets everything: requests, scripts, failures, parkings and the cache. Throws the first problem, if any. */
  reset(): void;
  /** Ends all connections and the server. Rejects with the first problem, if any. */
  close(): Promise<void>;
}

/** How an emulator is run: where, with which state at first and after a reset, and how it answers one HTTP request. */
export interface Running<S> {
  /** 0 or absent: any free port. */
  readonly port?: number | undefined;
  /** What comes behind the host in the base URL. */
  readonly basePath?: string;
  fresh(): S;
  serve(state: S, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** Runs an emulator on the loopback interface. */
export async function runEmulator<P, Q, E, F extends P, S extends Script<P, Q, E>>({
  port: wanted = 0,
  basePath = "",
  fresh,
  serve,
}: Running<S>): Promise<EmulatorOf<P, Q, E, F>> {
  let state = fresh();
  const server = createServer((request, response) => {
    const { problems } = state;
    serve(state, request, response).catch((error: unknown) => {
      response.destroy();
      // A client that goes away while it sends is nobody's mistake.
      if (request.complete) problems.push(error instanceof Error ? error : new Error(String(error)));
    });
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    server.listen(wanted, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : wanted);
    });
  });
  const takeProblems = () => state.problems.splice(0);

  return {
    url: `http://127.0.0.1:${port}${basePath}`,
    port,
    get requests() {
      return state.requests;
    },
    get problems() {
      return state.problems;
    },
    answer(next) {
      state.answerer = next;
    },
    script(...answers) {
      state.answers.push(...answers);
    },
    fail(...failures) {
      state.failures.push(...failures);
    },
    park(predicate, at = "headers") {
      const parking = createParking<E>();
      state.parkings.push({ predicate, at, parking });
      return parking;
    },
    takeProblems,
    reset() {
      const [problem] = takeProblems();
      state = fresh();
      if (problem !== undefined) throw problem;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      const [problem] = takeProblems();
      if (problem !== undefined) throw problem;
    },
  };
}
