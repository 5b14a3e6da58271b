import { HoldfastError } from "../values/errors.ts";
import { badRequest } from "./bad-request.ts";
import { BodyScan } from "./body-scan.ts";

const MB = 1024 * 1024;

/** What one request may hold. `text`: bytes of a body without its attachments; `whole`: with them. */
export const BODY_LIMITS = { text: 4 * MB, whole: 20 * MB, depth: 64 } as const;

/**
 * Reads a JSON body. It is measured while it streams, so that no more than the limit is ever held or parsed. Images and
 * PDFs may take it from 4 MB to 20 MB: as data URLs at the paths that `attachments` names (`messages[].image.url`), as
 * base64 alone at those of `bytes`; `"anything"` lets whatever there is take it there. Throws `too_large`, or
 * `bad_request` for what is no JSON or is nested too deep.
 */
export async function readJson(
  request: Request,
  attachments: readonly string[] | "anything" = [],
  bytes: readonly string[] = [],
): Promise<unknown> {
  const length = Number(request.headers.get("content-length") ?? 0);
  const most = attachments.length + bytes.length > 0 ? BODY_LIMITS.whole : BODY_LIMITS.text;
  if (length > most) throw tooLarge(most);
  const anything = attachments === "anything";
  const scan = new BodyScan(anything ? [] : attachments, bytes);
  const text = await readText(request, scan, anything ? most : BODY_LIMITS.text);
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw badRequest("", `The body is not JSON: ${thrown instanceof Error ? thrown.message : "it can't be read"}`);
  }
}

async function readText(request: Request, scan: BodyScan, most: number): Promise<string> {
  const reader = request.body?.getReader();
  if (!reader) return "";
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
    const pieces: string[] = [];
    let bytes = 0;
    const take = (chunk?: Uint8Array) => {
      const piece = decode(decoder, chunk);
      scan.take(piece);
      if (scan.depth > BODY_LIMITS.depth) {
        throw badRequest("", `The body is nested deeper than ${BODY_LIMITS.depth} levels.`);
      }
      // Base64 is ASCII, so its characters are bytes.
      if (bytes - scan.attached > most) throw tooLarge(most);
      if (bytes > BODY_LIMITS.whole) throw tooLarge(BODY_LIMITS.whole);
      pieces.push(piece);
    };
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      take(value);
    }
    take();
    return pieces.join("");
  } finally {
    reader.releaseLock();
  }
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch {
    throw badRequest("", "The body is not UTF-8.");
  }
}

function tooLarge(limit: number): HoldfastError {
  return new HoldfastError({
    reason: "too_large",
    message:
      `The body is larger than ${limit / MB} MB. ` +
      `The limit is ${BODY_LIMITS.text / MB} MB, and ${BODY_LIMITS.whole / MB} MB with images or PDFs as data URLs.`,
  });
}
