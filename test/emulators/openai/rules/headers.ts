import type { Failure } from "../failure.ts";

/** E-O01: a key is there, and is the one that is expected. The vendor's text names the key; ours does not. */
export function checkHeaders(headers: Readonly<Record<string, string>>, apiKey: string | undefined): Failure | null {
  const key = /^Bearer +(.+)$/i.exec(headers.authorization ?? "")?.[1];
  if (key !== undefined && (apiKey === undefined || key === apiKey)) return null;
  const message =
    key === undefined
      ? "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
      : "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.";
  const code = key === undefined ? null : "invalid_api_key";
  return { rule: "E-O01", status: 401, type: "invalid_request_error", message, param: null, code };
}
