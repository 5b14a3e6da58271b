import { HoldfastError } from "../values/errors.ts";
import { badRequest } from "./bad-request.ts";

const MB = 1024 * 1024;

/** What one request may hold. `text`: bytes of a body without its attachments; `whole`: with them. */
export const BODY_LIMITS = { text: 4 * MB, whole: 20 * MB, depth: 64 } as const;

/**
 * Reads a JSON body, counting while it streams, so that no more than the limit is ever held. Images and PDFs as data
 * URLs may take it from 4 MB to 20 MB. Throws `too_large`, or `bad_request` for what is no JSON or is nested too deep.
 */
export async function readJson(request: Request): Promise<unknown> {
  if (Number(request.headers.get("content-length") ?? 0) > BODY_LIMITS.whole) throw tooLarge(BODY_LIMITS.whole);
  const { text, bytes } = await readText(request);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw badRequest("", `The body is not JSON: ${thrown instanceof Error ? thrown.message : "it can't be read"}`);
  }
  const attached = measure(value, BODY_LIMITS.depth);
  if (bytes - attached > BODY_LIMITS.text) throw tooLarge(BODY_LIMITS.text);
  return value;
}

async function readText(request: Request): Promise<{ text: string; bytes: number }> {
  const reader = request.body?.getReader();
  if (!reader) return { text: "", bytes: 0 };
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const pieces: string[] = [];
  let bytes = 0;
  let limit: number = BODY_LIMITS.text;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    pieces.push(decode(decoder, value));
    if (bytes > limit && limit < BODY_LIMITS.whole && hasAttachment(pieces.join(""))) limit = BODY_LIMITS.whole;
    if (bytes > limit) {
      reader.releaseLock();
      throw tooLarge(limit);
    }
  }
  pieces.push(decode(decoder));
  return { text: pieces.join(""), bytes };
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch {
    throw badRequest("", "The body is not UTF-8.");
  }
}

const ATTACHMENT = /^data:(image\/|application\/pdf)/;

/** Whether the beginning of a body holds a data URL: only then is it worth reading on. Some writers escape the slash. */
function hasAttachment(text: string): boolean {
  return /"data:(image\\?\/|application\\?\/pdf)/.test(text);
}

/** Bytes of all attachments in a value (base64 is ASCII). Throws where it is nested deeper than `depth`. */
function measure(value: unknown, depth: number): number {
  if (typeof value === "string") return ATTACHMENT.test(value) ? value.length : 0;
  if (typeof value !== "object" || value === null) return 0;
  if (depth === 0) throw badRequest("", `The body is nested deeper than ${BODY_LIMITS.depth} levels.`);
  let sum = 0;
  for (const item of Object.values(value)) sum += measure(item, depth - 1);
  return sum;
}

function tooLarge(limit: number): HoldfastError {
  return new HoldfastError({
    reason: "too_large",
    message:
      `The body is larger than ${limit / MB} MB. ` +
      `The limit is ${BODY_LIMITS.text / MB} MB, and ${BODY_LIMITS.whole / MB} MB with images or PDFs as data URLs.`,
  });
}
