import { type EmulatorOf, runEmulator } from "../common/emulator.ts";
import type { HttpFailure, Part } from "./answer.ts";
import type { Answerer, AnswerRequest } from "./answerer.ts";
import type { NamespaceBehaviour } from "./availability.ts";
import type { RecordedRequest } from "./record.ts";
import type { Preamble } from "./render.ts";
import { serve } from "./serve.ts";
import { createState } from "./state.ts";

export interface OpenAIEmulatorOptions {
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** The only key that is accepted; any if absent. */
  readonly apiKey?: string;
  /** The clock of the cache, in ms. Default `Date.now`. */
  readonly now?: () => number;
  /** Plays the model when no script is left. */
  readonly answer?: Answerer;
  /** Marks that tests hide in tool output, to flag where it appears outside its result. Default `canary-` and letters. */
  readonly canaries?: RegExp;
  /** `any` believes encrypted content, responses and items that were made elsewhere. Default `own`. */
  readonly foreign?: "own" | "any";
  /** Where loaded functions land, whatever the model: in a namespace of their `own` name or in the `default` one. */
  readonly namespaces?: NamespaceBehaviour;
  /** Whether a hidden text stands in front of the prompt while something is deferred. Default `pessimistic`. */
  readonly preamble?: Preamble;
  /** The most tools of one request; `null`: no limit. Absent: as recorded for the model. */
  readonly maxTools?: number | null;
}

/** A running emulator of the OpenAI Responses API. */
export type OpenAIEmulator = EmulatorOf<Part, AnswerRequest, RecordedRequest, HttpFailure>;

/** Starts an emulator on the loopback interface. Its `url` ends in `/v1`, as `OPENAI_BASE_URL` does. */
export function startOpenAIEmulator(options: OpenAIEmulatorOptions = {}): Promise<OpenAIEmulator> {
  const { port, now = Date.now, answer, apiKey, maxTools } = options;
  const { foreign = "own", namespaces = "model", preamble = "pessimistic" } = options;
  const settings = { apiKey, foreign, namespaces, preamble, maxTools, now };
  return runEmulator({
    port,
    basePath: "/v1",
    fresh: () => createState(answer, options.canaries),
    serve: (state, request, response) => serve(state, settings, request, response),
  });
}
