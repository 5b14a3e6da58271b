import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Failure } from "../values/errors.ts";

/** The error envelope of OpenAI's API, which every client of it can read. */
export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

export interface HttpError {
  readonly status: ContentfulStatusCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

/**
 * What a failure looks like over HTTP. The openai client repeats 408, 409, 429 and every 5xx by itself unless it reads
 * `x-should-retry: false`: that goes wherever a repeat can't help.
 */
export function httpError(failure: Failure): HttpError {
  const error = (
    status: ContentfulStatusCode,
    type: string,
    code: string | null,
    more: { param?: string | undefined; headers?: Record<string, string> } = {},
  ): HttpError => ({
    status,
    headers: more.headers ?? {},
    body: errorBody(failure.message, type, code, more.param),
  });
  switch (failure.reason) {
    case "bad_request":
      return error(400, "invalid_request_error", failure.code ?? null, { param: failure.path });
    case "unauthorized":
      return error(401, "invalid_request_error", "invalid_api_key", {
        headers: { "www-authenticate": 'Bearer realm="holdfast"' },
      });
    case "forbidden":
      return error(403, "permission_error", "forbidden");
    case "not_found":
      return error(404, "invalid_request_error", "not_found");
    case "model_not_found":
      return error(404, "invalid_request_error", "model_not_found", { param: "model" });
    case "busy":
      return error(409, "conflict_error", "conflict", { headers: { ...retryAfter(failure.retryAfter), ...NO_RETRY } });
    case "conflict":
      return error(409, "conflict_error", "conflict", { headers: NO_RETRY });
    case "gone":
      return error(410, "invalid_request_error", "gone");
    case "key_reused":
      return error(422, "invalid_request_error", "idempotency_key_reused", { headers: NO_RETRY });
    case "too_large":
      return error(413, "invalid_request_error", "request_too_large");
    case "quota": {
      const headers = retryAfter(failure.retryAfter);
      if (failure.quota === "turns" || failure.quota === "requests") {
        return error(429, "rate_limit_error", "rate_limit_exceeded", { headers });
      }
      return error(429, "insufficient_quota", "insufficient_quota", { headers: { ...headers, ...NO_RETRY } });
    }
    case "limit":
      return error(422, "agent_error", `${failure.limit}_limit`);
    case "model_not_supported":
      return error(501, "server_error", "model_not_supported", { headers: NO_RETRY });
    case "unavailable":
      return error(503, "server_error", "unavailable", { headers: retryAfter(failure.retryAfter) });
    case "lost":
      return error(503, "server_error", "session_moved", { headers: retryAfter(1) });
    case "provider": {
      const headers = retryAfter(failure.retryAfter);
      if (failure.status === 429) return error(429, "rate_limit_error", "rate_limit_exceeded", { headers });
      // 529 is Anthropic's "overloaded".
      if (failure.status === 503 || failure.status === 529)
        return error(503, "provider_error", failure.type, { headers });
      const refused = failure.status !== null && failure.status < 500 && failure.status !== 408;
      return error(502, "provider_error", failure.type, { headers: { ...headers, ...(refused ? NO_RETRY : {}) } });
    }
    case "internal":
      return error(500, "server_error", "internal_error");
  }
}

export function errorBody(message: string, type: string, code: string | null, param: string | null = null): ErrorBody {
  return { error: { message, type, param, code } };
}

const NO_RETRY = { "x-should-retry": "false" };

function retryAfter(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(seconds))) };
}
