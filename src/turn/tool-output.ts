import { createHash } from "node:crypto";
import * as z from "zod";
import type { BlobRow } from "../session/contract.ts";
import type { Part, Source } from "../values/entry.ts";
import { RESULT_BYTES } from "./limits.ts";

/** What a tool returned, as parts to store and the blobs they refer to. */
export interface Output {
  readonly failed: boolean;
  readonly content: readonly Part[];
  readonly blobs: readonly BlobRow[];
}

const media = { data: z.base64().optional(), mediaType: z.string().optional(), url: z.url().optional() };
const RICH = z.object({
  isError: z.boolean().optional(),
  content: z.array(
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("text"), text: z.string() }),
      z.object({ type: z.literal("image"), ...media }),
      z.object({ type: z.literal("document"), name: z.string().optional(), ...media }),
    ]),
  ),
});

/**
 * Makes a result of what a tool returned: a string as it is, `{ content }` as its parts, any other JSON value as JSON
 * text; `{ isError: true, … }` is a failure. Text beyond {@link RESULT_BYTES} is cut in the middle.
 */
export function toolOutput(value: unknown): Output {
  if (typeof value === "string") return texts(value, false);
  const rich = RICH.safeParse(value);
  if (!rich.success) return texts(JSON.stringify(value) ?? "", isError(value));
  const blobs: BlobRow[] = [];
  const content = rich.data.content.map((part): Part => {
    if (part.type === "text") return { type: "text", text: cut(part.text) };
    const source = sourceOf(part, blobs);
    if (part.type === "image") return { type: "image", source };
    return part.name === undefined ? { type: "document", source } : { type: "document", source, name: part.name };
  });
  return { failed: rich.data.isError === true, content, blobs };
}

function texts(text: string, failed: boolean): Output {
  return { failed, content: [{ type: "text", text: cut(text) }], blobs: [] };
}

function isError(value: unknown): boolean {
  return typeof value === "object" && value !== null && "isError" in value && value.isError === true;
}

function sourceOf(
  part: { data?: string | undefined; mediaType?: string | undefined; url?: string | undefined },
  blobs: BlobRow[],
): Source {
  if (part.url !== undefined) return { type: "url", url: part.url };
  if (part.data === undefined || part.mediaType === undefined) {
    throw new Error("an image or document needs `url`, or `data` and `mediaType`");
  }
  const hash = createHash("sha256").update(Buffer.from(part.data, "base64")).digest("hex");
  blobs.push({ hash, media: part.mediaType, base64: part.data });
  return { type: "blob", hash, media: part.mediaType };
}

/** Keeps the head and the tail: the beginning says what it is, the end how it came out. */
function cut(text: string): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= RESULT_BYTES) return text;
  const half = RESULT_BYTES / 2;
  const decoder = new TextDecoder();
  const head = decoder.decode(bytes.subarray(0, half));
  const tail = decoder.decode(bytes.subarray(bytes.length - half));
  return `${head}\n[… ${bytes.length - RESULT_BYTES} bytes cut here: a result may hold ${RESULT_BYTES} …]\n${tail}`;
}
