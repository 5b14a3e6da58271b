import type { APIError } from "@anthropic-ai/sdk";
import { HoldfastError } from "../../values/errors.ts";

/** What the API answered, readable for the caller: its own sentence, never our request. */
export function refused(error: APIError): HoldfastError {
  const type = error.type ?? "connection";
  const status = error.status ?? null;
  const retryAfter = Number(error.headers?.get("retry-after"));
  return new HoldfastError({
    reason: "provider",
    status,
    type,
    ...(Number.isFinite(retryAfter) && retryAfter > 0 ? { retryAfter } : {}),
    message:
      error.apiMessage === null
        ? `The model provider could not be reached${status === null ? "" : ` (${status})`}.`
        : `The model provider answered ${status ?? "in mid-answer"} (${type}): ${error.apiMessage}`,
    detail: `request ${error.requestID ?? "unknown"}`,
  });
}
