/** A strict emulator of an endpoint for Chat Completions, OpenAI's or a compatible one. See `docs/emulators.md`. */
export { call, callUnseen, cut, destroyAt, type Point, parkAt, say, think } from "../common/answer.ts";
export type { Outcome } from "../common/exchange.ts";
export { type Layout, layoutDifference } from "../common/layout.ts";
export { createParking, type Parking } from "../common/parking.ts";
export type { HttpFailure } from "../openai/answer.ts";
export type { PromptUsage } from "../openai/cache.ts";
export type { Failure } from "../openai/failure.ts";
export { httpFailure, outOfQuota, overloaded, rateLimited, serverError } from "../openai/http-failures.ts";
export { type Answer, errorAt, filtered, type Part, refuse } from "./answer.ts";
export { type ChatEmulator, type ChatEmulatorOptions, startChatEmulator } from "./emulator.ts";
export { bodyLayout } from "./extends.ts";
export { LocalChat } from "./local.ts";
export type { Answerer, AnswerRequest, LastOutput, RecordedRequest } from "./record.ts";
export type { ChatRequest } from "./request.ts";
