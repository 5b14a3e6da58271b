import { badRequest } from "../../http/bad-request.ts";
import type { BlobRow } from "../../session/contract.ts";
import type { Source } from "../../values/entry.ts";

/** Where an attachment is, and its content if the request brought it along. */
export interface Attachment {
  readonly source: Source;
  readonly blob: BlobRow | null;
}

/** Image types that every provider takes. */
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** An image by its URL: `data:` becomes a blob, `https:` is left to the provider to fetch. `path` is for errors. */
export async function readImage(url: string, path: string): Promise<Attachment> {
  if (/^data:/i.test(url)) return readDataUrl(url, IMAGES, path);
  if (URL.parse(url)?.protocol !== "https:") throw badRequest(path, "an image is a data: or an https: URL");
  return { source: { type: "url", url }, blob: null };
}

/** A PDF as a data URL. */
export async function readPdf(data: string | null | undefined, path: string): Promise<Attachment> {
  if (!data) throw badRequest(path, "a file is sent as a data: URL in file_data; other ways are not supported");
  return readDataUrl(data, ["application/pdf"], path);
}

/** Blobs go by the SHA-256 of their bytes, however the client spelled the base64. */
async function readDataUrl(url: string, allowed: readonly string[], path: string): Promise<Attachment> {
  const comma = url.indexOf(",");
  const [type = "", ...parameters] = url.slice("data:".length, Math.max(comma, 0)).toLowerCase().split(";");
  const media = type === "image/jpg" ? "image/jpeg" : type;
  if (!parameters.includes("base64")) throw badRequest(path, "a data: URL must be in base64");
  if (!allowed.includes(media)) {
    throw badRequest(path, `${JSON.stringify(media)} is not supported; ${allowed.join(", ")} can be sent here`);
  }
  const binary = decodeBase64(url.slice(comma + 1), path);
  if (binary === "") throw badRequest(path, "the data: URL is empty");
  const hash = await sha256(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
  return { source: { type: "blob", hash, media }, blob: { hash, media, base64: btoa(binary) } };
}

function decodeBase64(text: string, path: string): string {
  try {
    return atob(text);
  } catch {
    throw badRequest(path, "the data: URL does not hold valid base64");
  }
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
