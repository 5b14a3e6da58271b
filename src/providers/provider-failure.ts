import { HoldfastError } from "../values/errors.ts";

/** What the errors of both SDKs have in common. `status` is absent where no answer came, or its failure came within it. */
interface SdkError {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly requestID?: string | null | undefined;
}

/**
 * What the API answered, readable for the caller. `type`: the API's own name of it; `said`: its own sentence, null where
 * it said nothing. Our request is not quoted.
 */
export function providerFailure(
  { status, headers, requestID }: SdkError,
  type: string,
  said: string | null,
): HoldfastError {
  const retryAfter = Number(headers?.get("retry-after"));
  const message =
    said === null
      ? `The model provider could not be reached${status === undefined ? "" : ` (${status})`}.`
      : `The model provider answered ${status ?? "in mid-answer"} (${type}): ${said}`;
  return new HoldfastError({
    reason: "provider",
    status: status ?? null,
    type,
    ...(Number.isFinite(retryAfter) && retryAfter > 0 ? { retryAfter } : {}),
    message,
    detail: `request ${requestID ?? "unknown"}`,
  });
}
