/** The error types of the Messages API. */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "billing_error"
  | "permission_error"
  | "not_found_error"
  | "conflict_error"
  | "request_too_large"
  | "rate_limit_error"
  | "api_error"
  | "timeout_error"
  | "overloaded_error";

/** A request that is refused: which rule refused it, and what the client is told. */
export interface Failure {
  /** `E-A01` to `E-A34`, listed in `docs/emulators.md`. */
  readonly rule: string;
  readonly status: number;
  readonly type: ErrorType;
  readonly message: string;
  /** `error.details.error_code`, where the API has one. */
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A 400 `invalid_request_error`. */
export function invalid(rule: string, message: string, code?: string): Failure {
  const failure = { rule, status: 400, type: "invalid_request_error", message } as const;
  return code === undefined ? failure : { ...failure, code };
}

/** The JSON body in which the API tells of a failure. */
export function failureBody(failure: Pick<Failure, "type" | "message" | "code">, requestId: string): string {
  const error = { type: failure.type, message: failure.message };
  return JSON.stringify({
    type: "error",
    error: failure.code === undefined ? error : { ...error, details: { error_code: failure.code } },
    request_id: requestId,
  });
}
