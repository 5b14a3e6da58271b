import type { APIError } from "@anthropic-ai/sdk";
import type { HoldfastError } from "../../values/errors.ts";
import { providerFailure } from "../provider-failure.ts";

/** What the API answered, readable for the caller. */
export function refused(error: APIError): HoldfastError {
  return providerFailure(error, error.type ?? "connection", error.apiMessage);
}
