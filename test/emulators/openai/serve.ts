import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answering, answering } from "../common/answering.ts";
import { plainHeaders, readBody } from "../common/http.ts";
import { minter, mintId } from "../common/ids.ts";
import { nextParts, parkingsFor } from "../common/script.ts";
import { type Control, closed, type Delivery, sendStream, sendWhole } from "../common/send.ts";
import type { Part } from "./answer.ts";
import { answerView } from "./answerer.ts";
import { cacheTerms } from "./cache-terms.ts";
import { type Compiled, compile } from "./compile.ts";
import { type AcceptedRequest, type ExamineSettings, examine } from "./examine.ts";
import { type Failure, failureBody } from "./failure.ts";
import { endpointOf, notFound, scriptProblem, sendFailure, sendJson } from "./http.ts";
import { compaction, counted } from "./operations.ts";
import type { OpenRecord } from "./record.ts";
import { responseEvents, spellEvent, wholeResponse } from "./response.ts";
import { item } from "./schema/items.ts";
import { type EmulatorState, openRecord } from "./state.ts";

/** What a request meets besides the state. */
export interface ServeSettings extends Omit<ExamineSettings, "stored" | "storedSource" | "storedItem"> {
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
  const endpoint = endpointOf(request);
  if (endpoint === null) return sendFailure(response, "req_unknown", notFound(request));
  const incoming = { endpoint, headers: plainHeaders(request), bodyText };
  const examined = examine(incoming, {
    ...settings,
    stored: (id) => state.stored.get(id)?.items,
    storedSource: (id) => state.stored.get(id)?.source ?? [],
    storedItem: (id) => state.storedItems.get(id),
  });
  const record = openRecord(state, incoming, settings.now(), examined);
  const requestId = `req_${record.n}`;
  if (examined.kind === "refused") return sendFailure(response, requestId, examined.failure);
  const exchange = { state, response, record, accepted: examined, requestId };
  if (endpoint !== "responses") {
    record.status = 200;
    record.outcome = "answered";
    return sendJson(response, requestId, endpoint === "compact" ? compaction(examined, record) : counted(examined));
  }
  await answering(exchange, () => answer(exchange), { scriptProblem, sendFailure });
}

/** Answers a request, or gives the failure that it is answered with. */
async function answer(exchange: Exchange): Promise<Failure | null> {
  const { state, response, record, accepted, requestId } = exchange;
  const { body } = accepted;
  const gone = closed(response);
  const plan = state.cache.plan(accepted.rendered, cacheTerms(body, accepted.model), record.at);
  record.usage = plan.usage;
  record.idealCachedTokens = plan.ideal;
  const parts = await nextParts(state, { ...record, body, ...answerView(accepted.items) });
  const http = parts.find((part) => part.kind === "http");
  if (http !== undefined) return { rule: "E-O19", ...http };
  const compiled = compile(parts, accepted, minter(record.n, record.bodyText));
  const id = mintId("resp_", record.n, record.bodyText);
  const delivery: Delivery = {
    response,
    record,
    headers: { "x-request-id": requestId },
    controls: [...parts.flatMap(controlOf), ...parkingsFor(state, record)],
    gone,
    begin() {
      record.responseId = id;
      plan.commit();
      if (body.store !== false) keep(state, id, accepted, compiled);
    },
  };
  const envelope = { id, createdAt: Math.floor(record.at / 1000), request: accepted, usage: plan.usage };
  if (body.stream === true) await sendStream(delivery, responseEvents(envelope, compiled).map(spellEvent));
  else await sendWhole(delivery, wholeResponse(envelope, compiled));
  return null;
}

/** Keeps a response, so that the next request can continue it. */
function keep(state: EmulatorState, id: string, { items, source, body }: AcceptedRequest, { output }: Compiled): void {
  const before = body.previous_response_id ? (state.stored.get(body.previous_response_id)?.source ?? []) : [];
  const kept = output.map((one) => item.parse(one));
  state.stored.set(id, {
    items: [...items, ...kept],
    source: [...before, ...source.items, ...output.map((one) => JSON.stringify(one))],
  });
  for (const one of kept) if (one.id) state.storedItems.set(one.id, one);
}

function controlOf(part: Part): Control[] {
  switch (part.kind) {
    case "destroy":
    case "park":
      return [part];
    case "error": {
      const { at, code, message } = part;
      const error = { type: code, code, message, param: null };
      const status = code === "rate_limit_exceeded" ? 429 : 500;
      return [{ kind: "error", at, record: errorRecord(part), status, body: failureBody(error) }];
    }
    default:
      return [];
  }
}

function errorRecord({ at, code, message, form }: Extract<Part, { kind: "error" }>): string {
  const flat = { type: "error", code, message, param: null, sequence_number: at };
  switch (form) {
    case "flat":
      return spellEvent(flat);
    case "nested":
      return spellEvent({ type: "error", sequence_number: at, error: { type: code, code, message, param: null } });
    case "unnamed":
      return `data: ${JSON.stringify(flat)}\n\n`;
  }
}
