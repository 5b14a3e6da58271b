import { type Failure, invalid } from "../failure.ts";
import { findModel, type Model } from "../models.ts";

/** 32 MiB, the API's limit of a request. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** E-A04, a body that is too large (413). */
export function checkSize(bytes: number): Failure | null {
  if (bytes <= MAX_BODY_BYTES) return null;
  return { rule: "E-A04", status: 413, type: "request_too_large", message: "Request exceeds the maximum size" };
}

/** A high surrogate, spelled as an escape, without its low one. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\u(?=d[89ab][0-9a-f]{2}(?!\\ud[c-f]))/i;

/** E-A04, a body that is not JSON; what the API reads JSON with wants whole characters. */
export function parseBody(text: string): { readonly json: unknown } | { readonly failure: Failure } {
  try {
    const json: unknown = JSON.parse(text);
    const lone = LONE_SURROGATE.exec(text);
    if (lone !== null) throw new SyntaxError(`no low surrogate at position ${lone.index}`);
    return { json };
  } catch (error) {
    const at = Number(/position (\d+)/.exec(String(error))?.[1] ?? text.length);
    const before = text.slice(0, at).split("\n");
    const place = `line ${before.length} column ${(before.at(-1) ?? "").length + 1} (char ${at})`;
    return { failure: invalid("E-A04", `The request body is not valid JSON: ${reasonOf(String(error))}: ${place}`) };
  }
}

function reasonOf(error: string): string {
  if (/surrogate/.test(error)) return "no low surrogate in string";
  return /control character/i.test(error) ? "unexpected control character in string" : "unexpected character";
}

/** E-A05: a model that does not exist is a 404. A body without a model is left to the schema. */
export function checkModel(json: unknown): { readonly model?: Model } | { readonly failure: Failure } {
  const name = typeof json === "object" && json !== null && "model" in json ? json.model : undefined;
  if (typeof name !== "string") return {};
  const model = findModel(name);
  if (model !== undefined) return { model };
  return { failure: { rule: "E-A05", status: 404, type: "not_found_error", message: `model: ${name}` } };
}
