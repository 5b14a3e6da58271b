import { createCanaryWatch, type SeenText } from "../common/canaries.ts";
import { recordOf } from "../common/record.ts";
import { emptyScript, type Script } from "../common/script.ts";
import { PromptCache } from "../openai/cache.ts";
import type { Part } from "./answer.ts";
import type { Examined, IncomingRequest } from "./examine.ts";
import { textOf } from "./messages.ts";
import type { Answerer, AnswerRequest, OpenRecord, RecordedRequest } from "./record.ts";
import type { ChatRequest } from "./request.ts";

/** All that an emulator remembers between requests. */
export interface EmulatorState extends Script<Part, AnswerRequest, RecordedRequest> {
  readonly cache: PromptCache;
  readonly watchCanaries: ReturnType<typeof createCanaryWatch>;
}

/** An emulator that remembers nothing yet. */
export function createState(answerer: Answerer | undefined, canaries?: RegExp): EmulatorState {
  return { ...emptyScript(answerer), cache: new PromptCache(), watchCanaries: createCanaryWatch(canaries) };
}

/** Begins the record of a request that has been examined. */
export function openRecord(
  state: EmulatorState,
  incoming: IncomingRequest,
  at: number,
  examined: Examined,
): OpenRecord {
  const record: OpenRecord = { ...recordOf(state, incoming, at, examined, seenTexts) };
  state.requests.push(record);
  return record;
}

/** The texts of a request in the order in which they came about: the conversation, then what stands in front of it. */
export function seenTexts({ messages }: ChatRequest): SeenText[] {
  const texts = messages.flatMap((one, index): SeenText[] => {
    if (one.role === "assistant") return [];
    return [{ place: one.role === "tool" ? "tool" : "prompt", path: `messages[${index}]`, text: textOf(one.content) }];
  });
  return texts.toSorted((a, b) => order(a) - order(b));
}

function order({ path, place }: SeenText): number {
  return place === "prompt" && path === "messages[0]" ? 1 : 0;
}
