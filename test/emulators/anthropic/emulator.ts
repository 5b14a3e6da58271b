import { type EmulatorOf, runEmulator } from "../common/emulator.ts";
import type { HttpFailure, Part } from "./answer.ts";
import type { Answerer, AnswerRequest } from "./answerer.ts";
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
export type Emulator = EmulatorOf<Part, AnswerRequest, RecordedRequest, HttpFailure>;

/** Starts an emulator on the loopback interface. */
export function startAnthropicEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port, now = Date.now, answer, signatures = "own" } = options;
  const settings = { apiKey: options.apiKey, betas: options.betas, signatures, now };
  return runEmulator({
    port,
    fresh: () => createState(answer, options.canaries),
    serve: (state, request, response) => serve(state, settings, request, response),
  });
}
