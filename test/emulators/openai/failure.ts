/** A request that is refused: which rule refused it, and what the client is told. */
export interface Failure {
  /** `E-O01` to `E-O19`, listed in `docs/emulators.md`. */
  readonly rule: string;
  readonly status: number;
  readonly type: string;
  readonly message: string;
  /** The field of the request that is at fault, where the API names one. */
  readonly param: string | null;
  readonly code: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A 400 `invalid_request_error`. */
export function invalid(
  rule: string,
  message: string,
  param: string | null = null,
  code: string | null = null,
): Failure {
  return { rule, status: 400, type: "invalid_request_error", message, param, code };
}

/** The JSON body in which the API tells of a failure. */
export function failureBody({
  type,
  message,
  param,
  code,
}: Pick<Failure, "type" | "message" | "param" | "code">): string {
  return JSON.stringify({ error: { message, type, param, code } });
}
