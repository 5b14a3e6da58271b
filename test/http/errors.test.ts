import { expect, it } from "vitest";
import { httpError } from "../../src/http/errors.ts";
import type { Reason } from "../../src/values/errors.ts";

const provider = (status: number | null, retryAfter?: number): Reason => ({
  reason: "provider",
  status,
  type: "some_error",
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

it.each<[Reason, number, string | null, Record<string, string>]>([
  [{ reason: "bad_request", path: "n", code: "unsupported_parameter" }, 400, "unsupported_parameter", {}],
  [{ reason: "bad_request" }, 400, null, {}],
  [{ reason: "unauthorized" }, 401, "invalid_api_key", { "www-authenticate": 'Bearer realm="holdfast"' }],
  [{ reason: "forbidden" }, 403, "forbidden", {}],
  [{ reason: "not_found" }, 404, "not_found", {}],
  [{ reason: "model_not_found" }, 404, "model_not_found", {}],
  [{ reason: "busy", retryAfter: 6.2 }, 409, "conflict", { "retry-after": "7", "x-should-retry": "false" }],
  [{ reason: "gone" }, 410, "gone", {}],
  [{ reason: "too_large" }, 413, "request_too_large", {}],
  [{ reason: "limit", limit: "steps" }, 422, "steps_limit", {}],
  [{ reason: "limit", limit: "repeats" }, 422, "repeats_limit", {}],
  [{ reason: "limit", limit: "seconds" }, 422, "seconds_limit", {}],
  [{ reason: "quota", quota: "turns", retryAfter: 1 }, 429, "rate_limit_exceeded", { "retry-after": "1" }],
  [{ reason: "quota", quota: "requests", retryAfter: 10 }, 429, "rate_limit_exceeded", { "retry-after": "10" }],
  [
    { reason: "quota", quota: "tokensPerDay", retryAfter: 3_601 },
    ...([429, "insufficient_quota", { "retry-after": "3601", "x-should-retry": "false" }] as const),
  ],
  [provider(429, 12), 429, "rate_limit_exceeded", { "retry-after": "12" }],
  [{ reason: "internal" }, 500, "internal_error", {}],
  [{ reason: "model_not_supported" }, 501, "model_not_supported", { "x-should-retry": "false" }],
  [provider(null), 502, "some_error", {}],
  [provider(500), 502, "some_error", {}],
  [provider(401), 502, "some_error", { "x-should-retry": "false" }],
  [provider(400), 502, "some_error", { "x-should-retry": "false" }],
  [provider(529), 503, "some_error", {}],
  [provider(503, 3), 503, "some_error", { "retry-after": "3" }],
  [{ reason: "unavailable", retryAfter: 5 }, 503, "unavailable", { "retry-after": "5" }],
  [{ reason: "lost" }, 503, "session_moved", { "retry-after": "1" }],
])("answers %o with %i, and never shows what is for the log", (reason, status, code, headers) => {
  const error = httpError({ ...reason, message: "What the caller reads.", detail: "stack" });
  expect(error).toMatchObject({ status, headers, body: { error: { code, message: "What the caller reads." } } });
  expect(error.headers).toEqual(headers);
  expect(JSON.stringify(error)).not.toContain("stack");
});
