import { type Failure, invalid } from "../failure.ts";
import { findModel, type Model } from "../models.ts";

/** 32 MiB, the API's limit of a request. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** E-A04, a body that is too large (413). */
export function checkSize(bytes: number): Failure | null {
  if (bytes <= MAX_BODY_BYTES) return null;
  return { rule: "E-A04", status: 413, type: "request_too_large", message: "Request exceeds the maximum size" };
}

/** E-A04, a body that is not JSON. */
export function parseBody(text: string): { readonly json: unknown } | { readonly failure: Failure } {
  try {
    const json: unknown = JSON.parse(text);
    return { json };
  } catch (error) {
    const at = Number(/position (\d+)/.exec(String(error))?.[1] ?? text.length);
    const before = text.slice(0, at).split("\n");
    const place = `line ${before.length} column ${(before.at(-1) ?? "").length + 1} (char ${at})`;
    const reason = /control character/i.test(String(error))
      ? "unexpected control character in string"
      : "unexpected character";
    return { failure: invalid("E-A04", `The request body is not valid JSON: ${reason}: ${place}`) };
  }
}

/** E-A05: a model that does not exist is a 404. A body without a model is left to the schema. */
export function checkModel(json: unknown): { readonly model?: Model } | { readonly failure: Failure } {
  const name = typeof json === "object" && json !== null && "model" in json ? json.model : undefined;
  if (typeof name !== "string") return {};
  const model = findModel(name);
  if (model !== undefined) return { model };
  return { failure: { rule: "E-A05", status: 404, type: "not_found_error", message: `model: ${name}` } };
}
