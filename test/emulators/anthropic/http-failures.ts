import type { HttpFailure } from "./answer.ts";
import type { ErrorType } from "./failure.ts";

/** Any HTTP failure. */
export function httpFailure(
  status: number,
  type: ErrorType,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpFailure {
  return { kind: "http", status, type, message, headers };
}

/** 429 with `retry-after` in seconds and the rate-limit headers. */
export function rateLimited(retryAfter = 1): HttpFailure {
  return httpFailure(429, "rate_limit_error", "This request would exceed your organization's rate limit.", {
    "retry-after": String(retryAfter),
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:00Z",
  });
}

/** 529. `retry` says what `x-should-retry` says; without it the header is absent. */
export function overloaded(retry?: boolean): HttpFailure {
  return httpFailure(
    529,
    "overloaded_error",
    "Overloaded",
    retry === undefined ? {} : { "x-should-retry": String(retry) },
  );
}

/** 500. */
export function serverError(): HttpFailure {
  return httpFailure(500, "api_error", "Internal server error");
}

/** 413. */
export function tooLarge(): HttpFailure {
  return httpFailure(413, "request_too_large", "Request exceeds the maximum size");
}
