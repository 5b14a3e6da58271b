import type { Params } from "./operations.ts";

/** A request's id, echoed. */
export type RpcId = string | number | null;

/** A JSON-RPC request whose envelope is right. */
export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RpcId;
  readonly method: string;
  readonly params?: unknown;
}

/** An error response. */
export function refused(id: RpcId, error: object, status = 200): Response {
  return Response.json({ jsonrpc: "2.0", id, error }, { status });
}

/** The request in a body, or what is wrong with its envelope. A list of requests is none: A2A has no batches. */
export function readEnvelope(body: unknown): RpcRequest | string {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return "A request is one JSON object.";
  const { jsonrpc, method, params }: { jsonrpc?: unknown; method?: unknown; params?: unknown } = body;
  if (jsonrpc !== "2.0") return 'The member "jsonrpc" must be "2.0".';
  if (typeof method !== "string" || method === "") return 'The member "method" must be the name of a method.';
  if ("id" in body && !isId(body.id)) return 'The member "id" must be a string, a whole number or null.';
  return { jsonrpc, id: idOf(body), method, ...(params === undefined ? {} : { params }) };
}

/** A body's id as far as it has one. */
export function idOf(body: unknown): RpcId {
  return typeof body === "object" && body !== null && "id" in body && isId(body.id) ? body.id : null;
}

function isId(id: unknown): id is RpcId {
  return id === null || typeof id === "string" || (typeof id === "number" && Number.isInteger(id));
}

export function isParams(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
