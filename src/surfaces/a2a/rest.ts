import { A2AError, ContentTypeNotSupportedError, VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { readJson } from "../../http/body.ts";
import { HoldfastError } from "../../values/errors.ts";
import type { Call } from "./call.ts";
import { hybridCard } from "./card.ts";
import { malformed, restError } from "./errors.ts";
import { Handler } from "./handler.ts";
import { decodeCreatePush, decodeSend, encodePush, encodeTask, encodeUpdate } from "./legacy-json.ts";
import { OPERATIONS, type Params, STREAMS } from "./operations.ts";
import { isParams } from "./rpc-envelope.ts";
import { streamResponse } from "./stream-response.ts";
import { type Version, versionOf } from "./version.ts";

/** A request of HTTP+JSON, as its path says what it asks. */
export interface RestRequest {
  /** The name of the operation in 1.0. */
  readonly operation: string;
  readonly version: Version;
  /** What the path and the query say; the body is put beside it. */
  readonly params: Params;
}

/** Where a message carries bytes, in 1.0 and in 0.3. */
const BYTES = ["message.parts[].raw", "message.content[].file.fileWithBytes"];

const MEDIA: Readonly<Record<Version, string>> = { "1.0": "application/a2a+json", "0.3": "application/json" };

/** Answers a request of HTTP+JSON. Errors have their own status; their body is a `google.rpc.Status`, in 0.3 flatter. */
export async function answerRest(
  request: Request,
  asked: RestRequest,
  unversioned: Omit<Call, "version">,
): Promise<Response> {
  const { version } = asked;
  const call = { ...unversioned, version };
  const handler = new Handler(call);
  try {
    checkVersion(request, version);
    const params = { ...(await readBody(request)), ...asked.params };
    return await (version === "1.0" ? modern : legacy)(handler, asked.operation, params, call);
  } catch (thrown) {
    return refused(version, thrown);
  }
}

async function modern(handler: Handler, operation: string, params: Params, call: Call): Promise<Response> {
  const stream = STREAMS[operation]?.(handler, params);
  if (stream !== undefined) {
    const framing = { event: (event: unknown) => event, error: (thrown: unknown) => restError(thrown).body };
    return streamResponse(stream, framing, (work) => call.ctx.waitUntil(work));
  }
  const result = await OPERATIONS[operation]?.(handler, params);
  if (result === null) return new Response(null, { status: 204 });
  return answer("1.0", result, operation === "CreateTaskPushNotificationConfig" ? 201 : 200);
}

/** The same operations, in the JSON of 0.3. */
async function legacy(handler: Handler, operation: string, given: Params, call: Call): Promise<Response> {
  const sends = operation === "SendMessage" || operation === "SendStreamingMessage";
  const creates = operation === "CreateTaskPushNotificationConfig";
  const params = sends ? decodeSend(given) : creates ? decodeCreatePush(given) : given;
  const stream = STREAMS[operation]?.(handler, params);
  if (stream !== undefined) {
    const framing = { event: encodeUpdate, error: (thrown: unknown) => legacyError(thrown) };
    return streamResponse(stream, framing, (work) => call.ctx.waitUntil(work));
  }
  if (operation === "GetExtendedAgentCard") return answer("0.3", hybridCard(call.agent, call.place, true), 200);
  const result = await OPERATIONS[operation]?.(handler, params);
  if (result === null) return new Response(null, { status: 204 });
  const pushes = operation.includes("PushNotificationConfig");
  const body = sends ? encodeUpdate(result) : pushes ? encodePush(result) : encodeTask(result);
  return answer("0.3", body, sends || creates ? 201 : 200);
}

/** A body as an object; none where the request has none. Some clients send `null` for nothing. */
async function readBody(request: Request): Promise<Params> {
  if (request.method === "GET" || request.method === "DELETE" || request.body === null) return {};
  if (request.headers.get("content-length") === "0") return {};
  const type = request.headers.get("content-type");
  if (type !== null && !/^application\/(?:a2a\+)?json\s*(?:;|$)/i.test(type)) {
    const said = JSON.stringify(type.slice(0, 100));
    throw new ContentTypeNotSupportedError(
      `The Content-Type ${said} is not supported; application/a2a+json and application/json are.`,
    );
  }
  const body = (await readJson(request, [], BYTES)) ?? {};
  if (!isParams(body)) throw malformed("", "The body is one JSON object.");
  return body;
}

/** The path says which version it is; a header or query that says another is a mistake of the client's. */
function checkVersion(request: Request, version: Version): void {
  const asked = request.headers.get("a2a-version") || new URL(request.url).searchParams.get("A2A-Version");
  if (!asked || versionOf(asked, null) === version) return;
  throw new VersionNotSupportedError(
    `The protocol version ${JSON.stringify(asked.slice(0, 32))} is not supported here; 1.0 is, and 0.3 under /v1.`,
  );
}

function answer(version: Version, body: unknown, status: number, headers: Readonly<Record<string, string>> = {}) {
  return new Response(JSON.stringify(body), { status, headers: { ...headers, "content-type": MEDIA[version] } });
}

function refused(version: Version, thrown: unknown): Response {
  const known = thrown instanceof A2AError || thrown instanceof HoldfastError;
  const { status, headers, body } = restError(known ? thrown : new Error("unknown", { cause: thrown }));
  return answer(version, version === "1.0" ? body : legacyError(thrown), status, headers);
}

/** An error body of 0.3: `{ code, message }`. */
function legacyError(thrown: unknown): object {
  const { code, message } = restError(thrown).body.error;
  return { code, message };
}
