import { createCanaryWatch } from "../common/canaries.ts";
import { recordOf } from "../common/record.ts";
import { emptyScript, type Script } from "../common/script.ts";
import type { Part } from "./answer.ts";
import type { Answerer, AnswerRequest } from "./answerer.ts";
import { PromptCache } from "./cache.ts";
import type { Fingerprint } from "./diagnostics.ts";
import type { Examined, IncomingRequest } from "./examine.ts";
import type { OpenRecord, RecordedRequest } from "./record.ts";
import { seenTexts } from "./seen-texts.ts";

/** All that an emulator remembers between requests. */
export interface EmulatorState extends Script<Part, AnswerRequest, RecordedRequest> {
  readonly cache: PromptCache;
  /** By message id. */
  readonly fingerprints: Map<string, Fingerprint>;
  readonly watchCanaries: ReturnType<typeof createCanaryWatch>;
}

/** An emulator that remembers nothing yet. */
export function createState(answerer: Answerer | undefined, canaries?: RegExp): EmulatorState {
  return {
    ...emptyScript(answerer),
    cache: new PromptCache(),
    fingerprints: new Map(),
    watchCanaries: createCanaryWatch(canaries),
  };
}

/** Begins the record of a request that has been examined. */
export function openRecord(
  state: EmulatorState,
  incoming: IncomingRequest,
  at: number,
  examined: Examined,
): OpenRecord {
  const record: OpenRecord = {
    ...recordOf(state, incoming, at, examined, seenTexts),
    endpoint: incoming.endpoint,
    cacheMissReason: null,
    messageId: null,
  };
  state.requests.push(record);
  return record;
}
