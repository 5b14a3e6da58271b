import {
  A2AError,
  RequestMalformedError,
  restStatusFor,
  TaskNotFoundError,
  toJsonRpcError,
  toRestErrorBody,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { httpError } from "../../http/errors.ts";
import { type Failure, failureOf } from "../../values/errors.ts";

/** What went wrong on our side, for which the protocol has no name of its own: busy, unavailable, too large … */
class ServerError extends A2AError {
  override readonly reason: string;
  readonly failure: Failure;
  constructor(failure: Failure) {
    super({ message: failure.message, metadata: { reason: failure.reason } });
    this.reason = failure.reason.toUpperCase();
    this.failure = failure;
  }
}

/** Params that can't be used: where (`message.parts[0]`) and why. */
export function malformed(field: string, problem: string): A2AError {
  const message = field === "" ? problem : `${field}: ${problem}`;
  return new RequestMalformedError({ message, ...(field === "" ? {} : { metadata: { field } }) });
}

/** One answer for a task that does not exist and for one of somebody else. */
export function noSuchTask(id: string): A2AError {
  return new TaskNotFoundError(`There is no task ${JSON.stringify(id)}.`);
}

/** The protocol's error for whatever was thrown. Messages of our failures are safe for the caller; others are not shown. */
export function a2aError(thrown: unknown): A2AError {
  if (thrown instanceof A2AError) return thrown;
  const failure = failureOf(thrown);
  switch (failure.reason) {
    case "bad_request":
      return malformed(failure.path ?? "", failure.message.slice(failure.path ? failure.path.length + 2 : 0));
    case "not_found":
    case "model_not_found":
      return new TaskNotFoundError(failure.message);
    case "gone":
      return new UnsupportedOperationError(`${failure.message} Start another one with a new contextId.`);
    case "conflict":
      return new UnsupportedOperationError(failure.message);
    case "key_reused":
    case "unauthorized":
    case "forbidden":
    case "too_large":
    case "busy":
    case "model_not_supported":
    case "unavailable":
    case "provider":
    case "limit":
    case "quota":
    case "lost":
    case "internal":
      return new ServerError(failure);
  }
}

/** The member `error` of a JSON-RPC response (specification §9.5): code, message, ErrorInfo, BadRequest for a field. */
export function rpcError(thrown: unknown) {
  const error = a2aError(thrown);
  const { code, message, data = [] } = toJsonRpcError(error);
  const details = Array.isArray(data) ? data : [data];
  return { code, message, data: [...details, ...fieldViolations(error)] };
}

/** An error response of HTTP+JSON (specification §11.6): a `google.rpc.Status`. */
export function restError(thrown: unknown) {
  const error = a2aError(thrown);
  const http = error instanceof ServerError ? httpError(error.failure) : null;
  const status = http?.status ?? restStatusFor(error);
  const { error: body } = toRestErrorBody(error, status);
  const name = http === null ? body.status : statusName(status);
  const details = [...body.details, ...fieldViolations(error)];
  return { status, headers: http?.headers ?? {}, body: { error: { ...body, status: name, details } } };
}

function fieldViolations(error: A2AError) {
  const field = error.metadata?.field;
  if (!(error instanceof RequestMalformedError) || field === undefined) return [];
  const fieldViolations = [{ field, description: error.message }];
  return [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations }];
}

/** Names of `google.rpc.Code`, by the status that `google/rpc/code.proto` maps each to. */
function statusName(status: number): string {
  switch (status) {
    case 401:
      return "UNAUTHENTICATED";
    case 403:
      return "PERMISSION_DENIED";
    case 404:
      return "NOT_FOUND";
    case 409:
      return "ABORTED";
    case 413:
      return "OUT_OF_RANGE";
    case 429:
      return "RESOURCE_EXHAUSTED";
    case 501:
      return "UNIMPLEMENTED";
    case 503:
      return "UNAVAILABLE";
    default:
      return status < 500 ? "INVALID_ARGUMENT" : "INTERNAL";
  }
}
