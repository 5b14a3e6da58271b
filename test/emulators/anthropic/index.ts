/** A strict emulator of the Anthropic Messages API, for tests and for work without a key. See `docs/emulators.md`. */
export { createParking, type Parking } from "../common/parking.ts";
export {
  type Answer,
  call,
  callUnseen,
  compact,
  cut,
  destroyAt,
  errorAt,
  type HttpFailure,
  type Part,
  type Point,
  parkAt,
  pause,
  type RefusalCategory,
  redacted,
  refuse,
  type StopReason,
  say,
  search,
  serverCall,
  stop,
  think,
} from "./answer.ts";
export type { Answerer, AnswerRequest, LastToolResult } from "./answerer.ts";
export type { PromptUsage } from "./cache.ts";
export type { CacheMissReason } from "./diagnostics.ts";
export { type Emulator, type EmulatorOptions, startAnthropicEmulator } from "./emulator.ts";
export { bodyLayout, type Layout, layoutDifference, layoutOf, whyNotExtends } from "./extends.ts";
export type { ErrorType, Failure } from "./failure.ts";
export { httpFailure, overloaded, rateLimited, serverError, tooLarge } from "./http-failures.ts";
export { LocalModel, type Received } from "./local.ts";
export { findModel, type Model } from "./models.ts";
export type { Outcome, RecordedRequest } from "./record.ts";
export type { AnyRequest } from "./schema/request.ts";
