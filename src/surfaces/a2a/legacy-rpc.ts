import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { A2A_ERROR_CODE } from "@a2a-js/sdk/errors";
import { ServerCallContext } from "@a2a-js/sdk/server";
import type { Call } from "./call.ts";
import { Handler } from "./handler.ts";
import { isParams, type RpcRequest, refused } from "./rpc-envelope.ts";
import { streamResponse } from "./stream-response.ts";

/** Answers a JSON-RPC request of 0.3 over the SDK's translation. */
export async function legacyRpc(request: RpcRequest, call: Call): Promise<Response> {
  const { id } = request;
  const handler = new Handler(call);
  const transport = new LegacyJsonRpcTransportHandler(handler);
  const answer = await transport.handle({ ...request, ...blocking(request.params) }, new ServerCallContext());
  const error = (thrown: unknown) => ({
    jsonrpc: "2.0",
    id,
    error: params(handler, LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(thrown)),
  });
  if ("jsonrpc" in answer) {
    const { result, error } = answer;
    return error === undefined ? Response.json({ jsonrpc: "2.0", id, result }) : refused(id, params(handler, error));
  }
  try {
    return await streamResponse(answer, { event: final, error }, (work) => call.ctx.waitUntil(work));
  } catch (thrown) {
    return Response.json(error(thrown));
  }
}

interface RpcError {
  readonly code: number;
  readonly message: string;
}

/** Whatever the translation stumbles over before an operation is asked is wrong with the params. */
function params({ entered }: Handler, error: RpcError): RpcError {
  if (entered || error.code !== A2A_ERROR_CODE.INTERNAL_ERROR) return error;
  return { code: A2A_ERROR_CODE.INVALID_PARAMS, message: "The params do not have the form that this method takes." };
}

/**
 * In 0.3 a client that does not say `blocking` is answered when the task is over, as its reference servers do; the SDK's
 * translation takes a configuration without it for the opposite.
 */
function blocking(given: unknown): { params?: unknown } {
  if (!isParams(given) || !isParams(given.configuration) || given.configuration.blocking != null) return {};
  return { params: { ...given, configuration: { ...given.configuration, blocking: true } } };
}

/** In 0.3 the last event of a stream says so, also where the task only waits (specification 0.3, §7.2.2). */
function final(envelope: unknown): unknown {
  if (!isParams(envelope) || !isParams(envelope.result) || !isParams(envelope.result.status)) return envelope;
  const { kind, status } = envelope.result;
  const waits = status.state === "input-required" || status.state === "auth-required";
  return kind === "status-update" && waits ? { ...envelope, result: { ...envelope.result, final: true } } : envelope;
}
