/** A strict emulator of the OpenAI Responses API, for tests and for work without a key. See `docs/emulators.md`. */
export { call, callUnseen, cut, destroyAt, type Point, parkAt, say, think } from "../common/answer.ts";
export type { Outcome } from "../common/exchange.ts";
export { type Layout, layoutDifference } from "../common/layout.ts";
export { createParking, type Parking } from "../common/parking.ts";
export {
  type Answer,
  compact,
  type ErrorForm,
  errorAt,
  type FailedCode,
  failed,
  filtered,
  type HttpFailure,
  type Part,
  refuse,
  search,
} from "./answer.ts";
export type { Answerer, AnswerRequest, LastOutput } from "./answerer.ts";
export type { NamespaceBehaviour } from "./availability.ts";
export type { PromptUsage } from "./cache.ts";
export { type OpenAIEmulator, type OpenAIEmulatorOptions, startOpenAIEmulator } from "./emulator.ts";
export { bodyLayout } from "./extends.ts";
export type { Failure } from "./failure.ts";
export { httpFailure, outOfQuota, overloaded, rateLimited, serverError } from "./http-failures.ts";
export { LocalOpenAI } from "./local.ts";
export { findModel, type Model } from "./models.ts";
export type { RecordedRequest } from "./record.ts";
export type { AnyRequest } from "./schema/request.ts";
