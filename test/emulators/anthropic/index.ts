/** A strict emulator of the Anthropic Messages API, for tests and for work without a key. See `docs/emulators.md`. */
export { call, callUnseen, cut, destroyAt, type Point, parkAt, say, think } from "../common/answer.ts";
export type { Outcome } from "../common/exchange.ts";
export { type Layout, layoutDifference } from "../common/layout.ts";
export { createParking, type Parking } from "../common/parking.ts";
export {
  type Answer,
  compact,
  errorAt,
  type HttpFailure,
  type Part,
  pause,
  type RefusalCategory,
  redacted,
  refuse,
  type StopReason,
  search,
  serverCall,
  stop,
} from "./answer.ts";
export type { Answerer, AnswerRequest, LastToolResult } from "./answerer.ts";
export type { PromptUsage } from "./cache.ts";
export type { CacheMissReason } from "./diagnostics.ts";
export { type Emulator, type EmulatorOptions, startAnthropicEmulator } from "./emulator.ts";
export { bodyLayout, layoutOf, whyNotExtends } from "./extends.ts";
export type { ErrorType, Failure } from "./failure.ts";
export { httpFailure, overloaded, rateLimited, serverError, tooLarge } from "./http-failures.ts";
export { LocalModel } from "./local.ts";
export { findModel, type Model } from "./models.ts";
export type { RecordedRequest } from "./record.ts";
export type { AnyRequest } from "./schema/request.ts";
