import { A2A_ERROR_CODE, ContentTypeNotSupportedError, VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { readJson } from "../../http/body.ts";
import { HoldfastError } from "../../values/errors.ts";
import type { Call } from "./call.ts";
import { malformed, rpcError } from "./errors.ts";
import { Handler } from "./handler.ts";
import { legacyRpc } from "./legacy-rpc.ts";
import { OPERATIONS, STREAMS } from "./operations.ts";
import { idOf, isParams, type RpcRequest, readEnvelope, refused } from "./rpc-envelope.ts";
import { streamResponse } from "./stream-response.ts";
import { versionOf } from "./version.ts";

/** Where a message carries bytes, in 1.0 and in 0.3. */
const BYTES = ["params.message.parts[].raw", "params.message.parts[].file.bytes"];

/** Answers a JSON-RPC request, of whichever version. Errors of the protocol have the status 200, as JSON-RPC's do. */
export async function answerRpc(request: Request, call: Omit<Call, "version">): Promise<Response> {
  const type = request.headers.get("content-type");
  if (type !== null && !/^application\/json\s*(?:;|$)/i.test(type)) {
    const message = `The Content-Type ${JSON.stringify(type.slice(0, 100))} is not supported; application/json is.`;
    return refused(null, rpcError(new ContentTypeNotSupportedError(message)));
  }
  let body: unknown;
  try {
    body = await readJson(request, [], BYTES);
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    const { reason, message } = thrown.failure;
    if (reason === "too_large") return refused(null, { code: A2A_ERROR_CODE.INVALID_REQUEST, message }, 413);
    return refused(null, { code: A2A_ERROR_CODE.PARSE_ERROR, message });
  }
  const envelope = readEnvelope(body);
  if (typeof envelope === "string") {
    return refused(idOf(body), { code: A2A_ERROR_CODE.INVALID_REQUEST, message: envelope });
  }
  const version = versionOf(
    request.headers.get("a2a-version") || (new URL(request.url).searchParams.get("A2A-Version") ?? ""),
    envelope.method,
  );
  if (typeof version !== "string") {
    const message = `The protocol version ${JSON.stringify(version.unknown.slice(0, 32))} is not supported; 1.0 and 0.3 are.`;
    return refused(envelope.id, rpcError(new VersionNotSupportedError(message)));
  }
  return (version === "0.3" ? legacyRpc : modernRpc)(envelope, { ...call, version });
}

async function modernRpc({ id, method, params = {} }: RpcRequest, call: Call): Promise<Response> {
  const handler = new Handler(call);
  try {
    if (!isParams(params)) throw malformed("params", "is an object");
    if (Object.hasOwn(STREAMS, method)) {
      const framing = {
        event: (result: unknown) => ({ jsonrpc: "2.0", id, result }),
        error: (thrown: unknown) => ({ jsonrpc: "2.0", id, error: rpcError(thrown) }),
      };
      const stream = STREAMS[method]?.(handler, params);
      if (stream) return await streamResponse(stream, framing, (work) => call.ctx.waitUntil(work));
    }
    const operation = Object.hasOwn(OPERATIONS, method) ? OPERATIONS[method] : undefined;
    if (operation === undefined) {
      const message = `There is no method ${JSON.stringify(method.slice(0, 100))}.`;
      return refused(id, { code: A2A_ERROR_CODE.METHOD_NOT_FOUND, message });
    }
    return Response.json({ jsonrpc: "2.0", id, result: await operation(handler, params) });
  } catch (thrown) {
    return refused(id, rpcError(thrown));
  }
}
