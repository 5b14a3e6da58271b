import type { IncomingMessage, ServerResponse } from "node:http";
import { pathOf } from "../common/http.ts";
import { type Failure, failureBody } from "./failure.ts";
import type { Endpoint } from "./rules/rule.ts";

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  "/v1/responses": "responses",
  "/v1/responses/compact": "compact",
  "/v1/responses/input_tokens": "input_tokens",
};

/** The operation that a request is for, or `null`. */
export function endpointOf(request: IncomingMessage): Endpoint | null {
  return request.method === "POST" ? (ENDPOINTS[pathOf(request)] ?? null) : null;
}

/** A request for something that is not there. */
export function notFound({ method, url }: IncomingMessage): Failure {
  const message = `Invalid URL (${method} ${url})`;
  return { rule: "E-O03", status: 404, type: "invalid_request_error", message, param: null, code: null };
}

/** A script that no model would follow. The client is told not to try again, so that the test ends soon. */
export function scriptProblem(problem: Error): Failure {
  const headers = { "x-should-retry": "false" };
  const message = `The emulator's script failed: ${problem.message}`;
  return { rule: "E-O19", status: 500, type: "server_error", message, param: null, code: null, headers };
}

/** Answers with a failure. */
export function sendFailure(response: ServerResponse, requestId: string, failure: Failure): void {
  response.writeHead(failure.status, {
    "content-type": "application/json",
    "x-request-id": requestId,
    ...failure.headers,
  });
  response.end(failureBody(failure));
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, requestId: string, value: object): void {
  response.writeHead(200, { "content-type": "application/json", "x-request-id": requestId });
  response.end(JSON.stringify(value));
}
