import { createHash } from "node:crypto";
import * as z from "zod";
import type { BlobRow } from "../session/contract.ts";
import type { Part, Source } from "../values/entry.ts";
import { MEDIA_CHARS } from "./limits.ts";

/** What a tool returned, as parts to store and the blobs they refer to. */
export interface Output {
  readonly failed: boolean;
  readonly content: readonly Part[];
  readonly blobs: readonly BlobRow[];
}

/** What models take. */
const MEDIA: Readonly<Record<"image" | "document", readonly string[]>> = {
  image: ["image/png", "image/jpeg", "image/gif", "image/webp"],
  document: ["application/pdf"],
};

const media = { data: z.string().optional(), mediaType: z.string().optional(), url: z.string().optional() };
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
 * text; `{ isError: true, … }` is a failure. Throws an error that says why when it is an image or document that no model
 * takes, or larger than `mostMedia` characters of base64.
 */
export function toolOutput(value: unknown, mostMedia = MEDIA_CHARS): Output {
  if (typeof value === "string") return texts(value, false);
  const rich = RICH.safeParse(value);
  if (!rich.success) return texts(JSON.stringify(value) ?? "", isError(value));
  const blobs: BlobRow[] = [];
  const content = rich.data.content.map((part): Part => {
    if (part.type === "text") return part;
    const source = sourceOf(part, blobs);
    if (part.type === "image") return { type: "image", source };
    return part.name ? { type: "document", source, name: part.name } : { type: "document", source };
  });
  const size = blobs.reduce((sum, blob) => sum + blob.base64.length, 0);
  if (size > mostMedia)
    throw new Error(`the result's images and documents take ${size} characters of base64, more than ${mostMedia}`);
  return { failed: rich.data.isError === true, content, blobs };
}

function texts(text: string, failed: boolean): Output {
  return { failed, content: [{ type: "text", text }], blobs: [] };
}

function isError(value: unknown): boolean {
  return typeof value === "object" && value !== null && "isError" in value && value.isError === true;
}

interface Media {
  readonly type: "image" | "document";
  readonly data?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly url?: string | undefined;
}

function sourceOf({ type, data, mediaType, url }: Media, blobs: BlobRow[]): Source {
  if (url !== undefined) {
    if (!URL.canParse(url) || new URL(url).protocol !== "https:") throw new Error(`the ${type}'s url is no https URL`);
    return { type: "url", url };
  }
  if (!data || mediaType === undefined) throw new Error(`the ${type} needs a \`url\`, or \`data\` and \`mediaType\``);
  if (!MEDIA[type].includes(mediaType)) throw new Error(`models take no ${type} of the media type ${mediaType}`);
  const bytes = Buffer.from(data, "base64");
  if (bytes.toString("base64") !== data) throw new Error(`the ${type}'s data is no base64`);
  const hash = createHash("sha256").update(bytes).digest("hex");
  blobs.push({ hash, media: mediaType, base64: data });
  return { type: "blob", hash, media: mediaType };
}
