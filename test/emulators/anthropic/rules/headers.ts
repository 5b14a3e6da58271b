import { KNOWN_BETAS, parseBetas } from "../betas.ts";
import { type Failure, invalid } from "../failure.ts";

export interface HeaderExpectations {
  /** The only key that is accepted; any if absent. */
  readonly apiKey?: string | undefined;
  /** Beta values accepted besides the known ones. */
  readonly betas?: readonly string[] | undefined;
}

/** E-A01, E-A02 and E-A03: the key, the version and the betas. Header names are in lower case. */
export function checkHeaders(
  headers: Readonly<Record<string, string>>,
  expected: HeaderExpectations = {},
): Failure | null {
  const key = headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /i, "");
  if (key === undefined || key === "" || (expected.apiKey !== undefined && key !== expected.apiKey)) {
    return { rule: "E-A01", status: 401, type: "authentication_error", message: "invalid x-api-key" };
  }
  if (headers["anthropic-version"] === undefined) return invalid("E-A02", "anthropic-version: header is required");
  const allowed = new Set([...KNOWN_BETAS, ...(expected.betas ?? [])]);
  const unexpected = parseBetas(headers["anthropic-beta"]).filter((beta) => !allowed.has(beta));
  if (unexpected.length === 0) return null;
  const listed = unexpected.map((beta) => `\`${beta}\``).join(", ");
  return invalid(
    "E-A03",
    `Unexpected value(s) ${listed} for the \`anthropic-beta\` header. Please consult our documentation at docs.claude.com or try again without the header.`,
  );
}
