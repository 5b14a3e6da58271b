import { createCanaryWatch } from "../common/canaries.ts";
import type { Parking } from "../common/parking.ts";
import type { Answer, HttpFailure, Part, Point } from "./answer.ts";
import type { Answerer, AnswerRequest } from "./answerer.ts";
import { PromptCache } from "./cache.ts";
import type { Fingerprint } from "./diagnostics.ts";
import type { Examined, IncomingRequest } from "./examine.ts";
import type { OpenRecord, RecordedRequest } from "./record.ts";
import { seenTexts } from "./seen-texts.ts";
import type { Control } from "./send.ts";

/** A parking and which requests are to stop there. */
export interface ParkingOrder {
  readonly predicate: (request: RecordedRequest) => boolean;
  readonly at: Point;
  readonly parking: Parking<RecordedRequest>;
}

/** All that an emulator remembers between requests. */
export interface EmulatorState {
  readonly requests: RecordedRequest[];
  readonly problems: Error[];
  readonly script: (Answer | Answerer)[];
  readonly failures: HttpFailure[];
  readonly parkings: ParkingOrder[];
  readonly cache: PromptCache;
  /** By message id. */
  readonly fingerprints: Map<string, Fingerprint>;
  answerer: Answerer | undefined;
  readonly watchCanaries: ReturnType<typeof createCanaryWatch>;
}

/** An emulator that remembers nothing yet. */
export function createState(answerer: Answerer | undefined, canaries?: RegExp): EmulatorState {
  return {
    requests: [],
    problems: [],
    script: [],
    failures: [],
    parkings: [],
    cache: new PromptCache(),
    fingerprints: new Map(),
    answerer,
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
  const accepted = examined.kind === "accepted";
  const record: OpenRecord = {
    ...incoming,
    n: state.requests.length + 1,
    json: accepted ? examined.body : examined.json,
    body: accepted ? examined.body : null,
    at,
    status: accepted ? 0 : examined.failure.status,
    error: accepted ? null : examined.failure,
    outcome: accepted ? "open" : "failed",
    visible: accepted ? examined.visible : [],
    usage: null,
    idealCachedTokens: 0,
    cacheMissReason: null,
    flags: accepted ? state.watchCanaries(seenTexts(examined.body)) : [],
    messageId: null,
    events: 0,
  };
  state.requests.push(record);
  return record;
}

/** The parts of the next answer: an injected failure, else the script's, else the answerer's. Throws if there is none. */
export async function nextParts(state: EmulatorState, request: AnswerRequest): Promise<readonly Part[]> {
  const failure = state.failures.shift();
  if (failure !== undefined) return [failure];
  const next = state.script.shift() ?? state.answerer;
  if (next === undefined) throw new Error(`No answer is left for request ${request.n}: ${request.lastUserText}`);
  return flatten(typeof next === "function" ? await next(request) : next);
}

function flatten(answer: Answer): Part[] {
  return "kind" in answer ? [answer] : answer.flatMap(flatten);
}

/** The parkings that wait for a request, as parts of its answer. */
export function parkingsFor(state: EmulatorState, record: RecordedRequest): Control[] {
  return state.parkings
    .filter(({ predicate }) => predicate(record))
    .map(({ at, parking }) => ({ kind: "park", at, parking }));
}
