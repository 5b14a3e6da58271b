import { createHash } from "node:crypto";
import type { BlobRow } from "../session/contract.ts";
import type { Source } from "../values/entry.ts";
import { badRequest } from "./bad-request.ts";
import { decodeBase64 } from "./base64.ts";
import { isOf, type Media } from "./media.ts";

/** Where an attachment is, and its content if the request brought it along. */
export interface Attachment {
  readonly source: Source;
  readonly blob: BlobRow | null;
}

/** Characters of a URL that is left to the provider to fetch. */
const URL_CHARS = 8_192;

/**
 * Content that a request brings as base64. Blobs go by the SHA-256 of their bytes. The client's base64 is kept, since no
 * other text decodes to the same. `path` and `what` (`the data: URL`) are for errors.
 */
export function readBlob(base64: string, media: Media, path: string, what: string): Attachment {
  const bytes = decodeBase64(base64);
  if (bytes === null) throw badRequest(path, `${what} does not hold valid base64`);
  if (bytes.length === 0) throw badRequest(path, `${what} is empty`);
  if (!isOf(bytes, media)) throw badRequest(path, `${what} says ${media}, and its content is something else`);
  const hash = createHash("sha256").update(bytes).digest("hex");
  return { source: { type: "blob", hash, media }, blob: { hash, media, base64 } };
}

/** Content at an `https:` URL, left to the provider to fetch. `what` says what such a URL may be. */
export function readLink(url: string, path: string, what: string): Attachment {
  if (url.length > URL_CHARS)
    throw badRequest(path, `a URL may have ${URL_CHARS} characters`, "string_above_max_length");
  if (URL.parse(url)?.protocol !== "https:") throw badRequest(path, what);
  return { source: { type: "url", url: url.toWellFormed() }, blob: null };
}
