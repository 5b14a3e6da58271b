import type { APIError } from "openai/core/error";
import { HoldfastError } from "../../values/errors.ts";
import { providerFailure } from "../provider-failure.ts";

/** What the API answered, readable for the caller. */
export function refused(error: APIError): HoldfastError {
  const unnamed = error.status === undefined ? "connection" : "api_error";
  return providerFailure(error, text(error.code) ?? text(error.type) ?? unnamed, sentenceOf(error.error));
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
