import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answering, answering } from "../common/answering.ts";
import { pathOf, plainHeaders, readBody } from "../common/http.ts";
import { minter, mintId } from "../common/ids.ts";
import { nextParts, parkingsFor } from "../common/script.ts";
import { type Control, closed, type Delivery, sendStream, sendWhole } from "../common/send.ts";
import { type Failure, failureBody } from "../openai/failure.ts";
import { notFound, scriptProblem, sendFailure } from "../openai/http.ts";
import type { Part } from "./answer.ts";
import { chunks, compile, spellChunk, wholeCompletion } from "./compile.ts";
import { type AcceptedRequest, type ExamineSettings, examine } from "./examine.ts";
import { answerView, type OpenRecord } from "./record.ts";
import { type EmulatorState, openRecord } from "./state.ts";

/** What a request meets besides the state. */
export interface ServeSettings extends ExamineSettings {
  /** The clock, in ms. */
  readonly now: () => number;
}

type Exchange = Answering<EmulatorState, OpenRecord, AcceptedRequest>;

/** Answers one HTTP request. */
export async function serve(
  state: EmulatorState,
  settings: ServeSettings,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const bodyText = await readBody(request);
  if (request.method !== "POST" || pathOf(request) !== "/v1/chat/completions") {
    return sendFailure(response, "req_unknown", notFound(request));
  }
  const incoming = { headers: plainHeaders(request), bodyText };
  const examined = examine(incoming, settings);
  const record = openRecord(state, incoming, settings.now(), examined);
  const requestId = `req_${record.n}`;
  if (examined.kind === "refused") return sendFailure(response, requestId, examined.failure);
  const exchange = { state, response, record, accepted: examined, requestId };
  await answering(exchange, () => answer(exchange), {
    sendFailure,
    scriptProblem: (problem) => ({ ...scriptProblem(problem), rule: "E-C11" }),
  });
}

/** Answers a request, or gives the failure that it is answered with. */
async function answer(exchange: Exchange): Promise<Failure | null> {
  const { state, response, record, accepted, requestId } = exchange;
  const { body, rendered, terms, visible } = accepted;
  const gone = closed(response);
  const plan = state.cache.plan(rendered, terms, record.at);
  record.usage = plan.usage;
  record.idealCachedTokens = plan.ideal;
  const parts = await nextParts(state, { ...record, body, ...answerView(body) });
  const http = parts.find((part) => part.kind === "http");
  if (http !== undefined) return { rule: "E-C11", ...http };
  const compiled = compile(parts, visible, minter(record.n, record.bodyText));
  const delivery: Delivery = {
    response,
    record,
    headers: { "x-request-id": requestId },
    controls: [...parts.flatMap(controlOf), ...parkingsFor(state, record)],
    gone,
    begin: plan.commit,
  };
  const id = mintId("chatcmpl-", record.n, record.bodyText);
  const envelope = { id, created: Math.floor(record.at / 1000), request: accepted, usage: plan.usage };
  if (body.stream === true) {
    await sendStream(delivery, [...chunks(envelope, compiled).map(spellChunk), "data: [DONE]\n\n"]);
  } else await sendWhole(delivery, wholeCompletion(envelope, compiled));
  return null;
}

function controlOf(part: Part): Control[] {
  switch (part.kind) {
    case "destroy":
    case "park":
      return [part];
    case "error": {
      const { at, code, message } = part;
      const body = failureBody({ type: code, message, param: null, code });
      return [{ kind: "error", at, record: `data: ${body}\n\n`, status: 500, body }];
    }
    default:
      return [];
  }
}
