import { type EmulatorOf, runEmulator } from "../common/emulator.ts";
import type { HttpFailure } from "../openai/answer.ts";
import type { Part } from "./answer.ts";
import type { Answerer, AnswerRequest, RecordedRequest } from "./record.ts";
import { serve } from "./serve.ts";
import { createState } from "./state.ts";

export interface ChatEmulatorOptions {
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
  /** The models that exist; any if absent. */
  readonly models?: readonly string[];
  /** `json` refuses earlier calls whose arguments are not the JSON of an object, as many compatible servers do. Default `any`. */
  readonly callArguments?: "any" | "json";
}

/** A running emulator of an endpoint for Chat Completions. */
export type ChatEmulator = EmulatorOf<Part, AnswerRequest, RecordedRequest, HttpFailure>;

/** Starts an emulator on the loopback interface. Its `url` ends in `/v1`. */
export function startChatEmulator(options: ChatEmulatorOptions = {}): Promise<ChatEmulator> {
  const { port, now = Date.now, answer, apiKey, models, callArguments = "any" } = options;
  const settings = { apiKey, models, callArguments, now };
  return runEmulator({
    port,
    basePath: "/v1",
    fresh: () => createState(answer, options.canaries),
    serve: (state, request, response) => serve(state, settings, request, response),
  });
}
