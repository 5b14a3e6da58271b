import type { Open, RecordOf } from "../common/exchange.ts";
import type { AnswererOf } from "../common/script.ts";
import type { PromptUsage } from "../openai/cache.ts";
import type { Failure } from "../openai/failure.ts";
import type { Part } from "./answer.ts";
import { textOf } from "./messages.ts";
import type { ChatRequest } from "./request.ts";

/** What the emulator keeps of each request. */
export type RecordedRequest = RecordOf<ChatRequest, Failure, PromptUsage>;

/** The record while the emulator fills it. */
export type OpenRecord = Open<RecordedRequest>;

/** A tool's message at the end of the request. */
export interface LastOutput {
  readonly callId: string;
  /** The name of the tool that was called. */
  readonly name: string;
  readonly text: string;
}

/** A request as an answerer sees it. */
export interface AnswerRequest extends RecordedRequest {
  readonly body: ChatRequest;
  readonly lastUserText: string;
  /** What tools have said since the model's last message. */
  readonly lastOutputs: readonly LastOutput[];
}

/** Plays the model: given a request, says what it answers. What it throws is a problem of the test. */
export type Answerer = AnswererOf<Part, AnswerRequest>;

/** The parts of a request that an answerer mostly looks at. */
export function answerView({ messages }: ChatRequest): Pick<AnswerRequest, "lastUserText" | "lastOutputs"> {
  const names = new Map<string, string>();
  for (const one of messages) {
    if (one.role !== "assistant") continue;
    for (const { id, function: called } of one.tool_calls ?? []) names.set(id, called.name);
  }
  const from = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  return {
    lastUserText: textOf(messages.findLast(({ role }) => role === "user")?.content),
    lastOutputs: messages.slice(from).flatMap((one) => {
      if (one.role !== "tool") return [];
      return { callId: one.tool_call_id, name: names.get(one.tool_call_id) ?? "", text: textOf(one.content) };
    }),
  };
}
