import { createServer } from "node:http";
import { createParking, type Parking } from "../common/parking.ts";
import type { Answer, HttpFailure, Point } from "./answer.ts";
import type { Answerer } from "./answerer.ts";
import type { RecordedRequest } from "./record.ts";
import { serve } from "./serve.ts";
import { createState } from "./state.ts";

export interface EmulatorOptions {
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** The only key that is accepted; any if absent. */
  readonly apiKey?: string;
  /** The clock of the cache, in ms. Default `Date.now`. */
  readonly now?: () => number;
  /** Plays the model when no script is left. */
  readonly answer?: Answerer;
  /** Values of `anthropic-beta` that are accepted besides the known ones. */
  readonly betas?: readonly string[];
  /** Marks that tests hide in tool output, to flag where it appears outside its result. Default `canary-` and letters. */
  readonly canaries?: RegExp;
  /** `any` believes signatures of thinking that were made elsewhere. Default `own`. */
  readonly signatures?: "own" | "any";
}

/** A running emulator of the Anthropic Messages API. */
export interface Emulator {
  /** The base URL for a client. */
  readonly url: string;
  readonly port: number;
  /** All requests, in the order in which they arrived. */
  readonly requests: readonly RecordedRequest[];
  /** What scripts did that no model would do, such as calling a tool that is not visible. */
  readonly problems: readonly Error[];
  /** Sets who plays the model when no script is left. */
  answer(answerer: Answerer): void;
  /** Adds answers for the next requests, one each. They go before the answerer. */
  script(...answers: readonly (Answer | Answerer)[]): void;
  /** Adds failures for the next valid requests, one each. They go before scripts and the answerer. */
  fail(...failures: readonly HttpFailure[]): void;
  /** Lets every request that `predicate` picks wait at `at`: before its headers (the default), or after so many events. */
  park(predicate: (request: RecordedRequest) => boolean, at?: Point): Parking<RecordedRequest>;
  /** Gives the problems and forgets them. */
  takeProblems(): Error[];
  /** Forgets everything: requests, scripts, failures, parkings and the cache. Throws the first problem, if any. */
  reset(): void;
  /** Ends all connections and the server. Rejects with the first problem, if any. */
  close(): Promise<void>;
}

/** Starts an emulator on the loopback interface. */
export async function startAnthropicEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port: wanted = 0, now = Date.now, answer: answerer, signatures = "own" } = options;
  const settings = { apiKey: options.apiKey, betas: options.betas, signatures, now };
  let state = createState(answerer, options.canaries);
  const server = createServer((request, response) => {
    const { problems } = state;
    serve(state, settings, request, response).catch((error: unknown) => {
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
    url: `http://127.0.0.1:${port}`,
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
      state.script.push(...answers);
    },
    fail(...failures) {
      state.failures.push(...failures);
    },
    park(predicate, at = "headers") {
      const parking = createParking<RecordedRequest>();
      state.parkings.push({ predicate, at, parking });
      return parking;
    },
    takeProblems,
    reset() {
      const [problem] = takeProblems();
      state = createState(answerer, options.canaries);
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
