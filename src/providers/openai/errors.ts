import type { APIError } from "openai/core/error";
import { HoldfastError } from "../../values/errors.ts";

/** What the API answered, readable for the caller: its own sentence, never our request. */
export function refused(error: APIError): HoldfastError {
  const status = error.status ?? null;
  const retryAfter = Number(error.headers?.get("retry-after"));
  const type = text(error.code) ?? text(error.type) ?? (status === null ? "connection" : "api_error");
  const said = sentenceOf(error.error);
  return new HoldfastError({
    reason: "provider",
    status,
    type,
    ...(Number.isFinite(retryAfter) && retryAfter > 0 ? { retryAfter } : {}),
    message:
      said === null
        ? `The model provider could not be reached${status === null ? "" : ` (${status})`}.`
        : `The model provider answered ${status ?? "in mid-answer"} (${type}): ${said}`,
    detail: `request ${error.requestID ?? "unknown"}`,
  });
}

/** A failure that came as an event of the answer, which has no status. */
export function failedInAnswer(code: string | null | undefined, message: string | null | undefined): HoldfastError {
  const type = text(code) ?? "server_error";
  return new HoldfastError({
    reason: "provider",
    status: null,
    type,
    message: `The model provider answered in mid-answer (${type}): ${text(message) ?? "no reason given"}`,
  });
}

/** The sentence in an error's body: `{ message }`, or, of some compatible endpoints, the text itself. */
function sentenceOf(body: unknown): string | null {
  if (typeof body === "string") return text(body);
  if (typeof body !== "object" || body === null) return null;
  return "message" in body ? text(body.message) : null;
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
