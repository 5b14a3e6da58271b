import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answering, answering } from "../common/answering.ts";
import { plainHeaders, readBody } from "../common/http.ts";
import { minter, mintId } from "../common/ids.ts";
import { nextParts, parkingsFor } from "../common/script.ts";
import { type Control, closed, type Delivery, sendStream, sendWhole } from "../common/send.ts";
import type { Part } from "./answer.ts";
import { answerView } from "./answerer.ts";
import { compile, type WireEvent } from "./compile.ts";
import { toolName, toolsOf } from "./content.ts";
import { cacheMissReason, fingerprint } from "./diagnostics.ts";
import { type AcceptedRequest, type ExamineSettings, examine } from "./examine.ts";
import { type Failure, failureBody } from "./failure.ts";
import { endpointOf, notFound, scriptProblem, sendFailure, sendJson } from "./http.ts";
import { type Envelope, messageEvents, wholeMessage } from "./message.ts";
import type { OpenRecord } from "./record.ts";
import { sign } from "./signatures.ts";
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
  const endpoint = endpointOf(request);
  if (endpoint === null) return sendFailure(response, "req_unknown", notFound(request));
  const incoming = { endpoint, headers: plainHeaders(request), bodyText };
  const examined = examine(incoming, settings);
  const record = openRecord(state, incoming, settings.now(), examined);
  const requestId = `req_${record.n}`;
  if (examined.kind === "refused") return sendFailure(response, requestId, examined.failure);
  if (endpoint === "count_tokens") {
    record.status = 200;
    record.outcome = "answered";
    const tokens = examined.rendered.reduce((sum, block) => sum + block.tokens, 0);
    return sendJson(response, requestId, { input_tokens: tokens });
  }
  const exchange = { state, response, record, accepted: examined, requestId };
  await answering(exchange, () => answer(exchange), { scriptProblem, sendFailure });
}

/** Answers a request, or gives the failure that it is answered with. */
async function answer(exchange: Exchange): Promise<Failure | null> {
  const { state, response, record, accepted } = exchange;
  const { body } = accepted;
  const gone = closed(response);
  const begin = readCache(exchange);
  const parts = await nextParts(state, { ...record, body, ...answerView(body) });
  const http = parts.find((part) => part.kind === "http");
  if (http !== undefined) return { rule: "E-A34", ...http };
  const compiled = compile(body.max_tokens === 0 ? PREWARMED : parts, surroundings(exchange));
  const delivery: Delivery = {
    response,
    record,
    headers: { "request-id": exchange.requestId },
    controls: [...parts.flatMap((part) => controlOf(part, exchange.requestId)), ...parkingsFor(state, record)],
    gone,
    begin,
  };
  const envelope = envelopeOf(exchange);
  if (body.stream === true) await sendStream(delivery, messageEvents(envelope, compiled).map(spell));
  else await sendWhole(delivery, wholeMessage(envelope, compiled));
  return null;
}

/** `max_tokens: 0` only warms the cache. */
const PREWARMED: readonly Part[] = [{ kind: "stop", reason: "max_tokens" }];

function controlOf(part: Part, requestId: string): Control[] {
  switch (part.kind) {
    case "destroy":
    case "park":
      return [part];
    case "error": {
      const body = failureBody(part, requestId);
      const status = part.type === "overloaded_error" ? 529 : 500;
      return [{ kind: "error", at: part.at, record: `event: error\ndata: ${body}\n\n`, status, body }];
    }
    default:
      return [];
  }
}

/** One record. Like the API's, its data line ends with some spaces. */
function spell(event: WireEvent, position: number): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}${" ".repeat((position * 7) % 13)}\n\n`;
}

/** Reads the cache for a request. What it writes can be read once `begin` is called, when the answer begins. */
function readCache({ state, record, accepted }: Exchange): () => void {
  const { body, model, rendered, chain } = accepted;
  const plan = state.cache.plan(rendered, chain, model, record.at);
  const print = fingerprint(model, rendered, chain);
  const previous = body.diagnostics?.previous_message_id;
  if (previous) record.cacheMissReason = cacheMissReason(state.fingerprints.get(previous), print);
  record.usage = plan.usage;
  record.idealCachedTokens = plan.ideal;
  return () => {
    record.messageId = messageId(record);
    state.fingerprints.set(record.messageId, print);
    plan.commit();
  };
}

function messageId({ n, bodyText }: OpenRecord): string {
  return mintId("msg_", n, bodyText);
}

function surroundings({ record, accepted }: Exchange) {
  return {
    visible: accepted.visible,
    declared: new Set(toolsOf(accepted.body).map((tool) => toolName(tool) ?? "")),
    mint: minter(record.n, record.bodyText),
    sign: (text: string) => sign(text, accepted.binding),
  };
}

function envelopeOf({ record, accepted }: Exchange): Envelope {
  const { body, droppedThinking } = accepted;
  if (record.usage === null) throw new Error("The cache is read before the answer is made.");
  const envelope = { id: messageId(record), model: body.model, usage: record.usage, droppedThinking };
  if (!body.diagnostics) return envelope;
  const reason = record.cacheMissReason;
  return { ...envelope, diagnostics: reason === null ? null : { cache_miss_reason: reason } };
}
