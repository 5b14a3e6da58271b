import type { IncomingMessage, ServerResponse } from "node:http";
import { pathOf } from "../common/http.ts";
import type { Endpoint } from "./examine.ts";
import { type Failure, failureBody } from "./failure.ts";

/** The operation that a request is for, or `null`. */
export function endpointOf(request: IncomingMessage): Endpoint | null {
  const path = pathOf(request);
  if (request.method !== "POST") return null;
  if (path === "/v1/messages") return "messages";
  return path === "/v1/messages/count_tokens" ? "count_tokens" : null;
}

/** A request for something that is not there. */
export function notFound({ method, url }: IncomingMessage): Failure {
  return { rule: "E-A05", status: 404, type: "not_found_error", message: `Not found: ${method} ${url}` };
}

/** A script that no model would follow. The client is told not to try again, so that the test ends soon. */
export function scriptProblem(problem: Error): Failure {
  const headers = { "x-should-retry": "false" };
  const message = `The emulator's script failed: ${problem.message}`;
  return { rule: "E-A33", status: 500, type: "api_error", message, headers };
}

/** Answers with a failure. */
export function sendFailure(response: ServerResponse, requestId: string, failure: Failure): void {
  response.writeHead(failure.status, {
    "content-type": "application/json",
    "request-id": requestId,
    ...failure.headers,
  });
  response.end(failureBody(failure, requestId));
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, requestId: string, value: object): void {
  response.writeHead(200, { "content-type": "application/json", "request-id": requestId });
  response.end(JSON.stringify(value));
}
