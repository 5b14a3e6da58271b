import { badRequest } from "./bad-request.ts";

/** Bytes of one text: a part that a user or system message brings in, or an answer as a whole, which may be long. */
export const TEXT_KB = { part: 200, answer: 1024 } as const;

/** The text, with lone surrogates replaced (no provider takes them), if it is not too long. `path` is for errors. */
export function limitedText(text: string, path: string, kilobytes: number = TEXT_KB.part): string {
  if (Buffer.byteLength(text) > kilobytes * 1024) {
    throw badRequest(path, `a text may have ${kilobytes} KB`, "string_above_max_length");
  }
  return text.toWellFormed();
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}
