import { createHash } from "node:crypto";
import { badRequest } from "../../http/bad-request.ts";
import { decodeBase64 } from "../../http/base64.ts";
import { IMAGES, isOf, type Media } from "../../http/media.ts";
import type { BlobRow } from "../../session/contract.ts";
import type { Source } from "../../values/entry.ts";

/** Where an attachment is, and its content if the request brought it along. */
export interface Attachment {
  readonly source: Source;
  readonly blob: BlobRow | null;
}

/** Characters of a URL that is left to the provider to fetch. */
const URL_CHARS = 8_192;

/** An image by its URL: `data:` becomes a blob, `https:` is left to the provider to fetch. `path` is for errors. */
export function readImage(url: string, path: string): Attachment {
  if (/^data:/i.test(url)) return readDataUrl(url, IMAGES, path);
  if (url.length > URL_CHARS)
    throw badRequest(path, `a URL may have ${URL_CHARS} characters`, "string_above_max_length");
  if (URL.parse(url)?.protocol !== "https:") throw badRequest(path, "an image is a data: or an https: URL");
  return { source: { type: "url", url }, blob: null };
}

/** A PDF as a data URL. */
export function readPdf(data: string | null | undefined, path: string): Attachment {
  if (!data) throw badRequest(path, "a file is sent as a data: URL in file_data; other ways are not supported");
  return readDataUrl(data, ["application/pdf"], path);
}

/** Blobs go by the SHA-256 of their bytes. The client's base64 is kept, since no other text decodes to the same. */
function readDataUrl(url: string, allowed: readonly Media[], path: string): Attachment {
  const comma = url.indexOf(",");
  const [type = "", ...parameters] = url.slice("data:".length, Math.max(comma, 0)).toLowerCase().split(";");
  if (!parameters.includes("base64")) throw badRequest(path, "a data: URL must be in base64");
  const media = allowed.find((one) => one === (type === "image/jpg" ? "image/jpeg" : type));
  if (media === undefined) {
    throw badRequest(
      path,
      `${JSON.stringify(type.slice(0, 64))} is not supported; ${allowed.join(", ")} can be sent here`,
    );
  }
  const base64 = url.slice(comma + 1);
  const bytes = decodeBase64(base64);
  if (bytes === null) throw badRequest(path, "the data: URL does not hold valid base64");
  if (bytes.length === 0) throw badRequest(path, "the data: URL is empty");
  if (!isOf(bytes, media)) throw badRequest(path, `the data: URL says ${media}, and its content is something else`);
  const hash = createHash("sha256").update(bytes).digest("hex");
  return { source: { type: "blob", hash, media }, blob: { hash, media, base64 } };
}
