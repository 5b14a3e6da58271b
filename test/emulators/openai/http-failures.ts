import type { HttpFailure } from "./answer.ts";

/** Any HTTP failure. */
export function httpFailure(
  status: number,
  type: string,
  message: string,
  code: string | null = null,
  headers: Readonly<Record<string, string>> = {},
): HttpFailure {
  return { kind: "http", status, type, message, param: null, code, headers };
}

/** 429 with `retry-after` in seconds and the rate-limit headers. */
export function rateLimited(retryAfter = 1): HttpFailure {
  const message = `Rate limit reached for requests. Limit: 3 / min. Please try again in ${retryAfter}s.`;
  return httpFailure(429, "requests", message, "rate_limit_exceeded", {
    "retry-after": String(retryAfter),
    "x-ratelimit-limit-requests": "3",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": `${retryAfter}s`,
  });
}

/** 429 that no waiting helps: the account has no money left. */
export function outOfQuota(): HttpFailure {
  const message = "You exceeded your current quota, please check your plan and billing details.";
  return httpFailure(429, "insufficient_quota", message, "insufficient_quota");
}

/** 500. */
export function serverError(): HttpFailure {
  return httpFailure(500, "server_error", "The server had an error while processing your request. Sorry about that!");
}

/** 503, with `retry-after` in seconds where that is given. */
export function overloaded(retryAfter?: number): HttpFailure {
  const message = "The server is currently overloaded with other requests. Sorry about that!";
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return httpFailure(503, "server_error", message, null, headers);
}
