import type { APIError } from "@anthropic-ai/sdk";
import { HoldfastError } from "../../values/errors.ts";

/** An answer that broke off after it had begun. `detail` goes to the log: it quotes nothing that came. */
export function brokeOff(detail: string): HoldfastError {
  return new HoldfastError({
    reason: "provider",
    status: null,
    type: "connection",
    message: "The connection to the model provider broke off in mid-answer.",
    detail,
  });
}

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
