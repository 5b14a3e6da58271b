import type { Part as A2APart } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import { readBlob, readLink } from "../../http/blob.ts";
import { IMAGES } from "../../http/media.ts";
import { isBlank, limitedText } from "../../http/text.ts";
import type { BlobRow } from "../../session/contract.ts";
import type { Part } from "../../values/entry.ts";
import { INPUT_MODES } from "./card.ts";
import { malformed } from "./errors.ts";

/** A message's content as the session keeps it. */
export interface Content {
  readonly content: readonly Part[];
  readonly blobs: readonly BlobRow[];
}

interface Read {
  readonly part: Part;
  readonly blob: BlobRow | null;
}

/**
 * Reads a message's parts: text, data (as its JSON text), images and PDFs as bytes or by URL, text files as text, and
 * other links by their address. Throws -32602 for a part that is none, -32005 for media that no model takes.
 */
export function readParts(parts: readonly A2APart[], path: string): Content {
  const blobs = new Map<string, BlobRow>();
  const content = parts.flatMap((one, index) => {
    const { part, blob } = readPart(one, `${path}[${index}]`);
    if (blob !== null) blobs.set(blob.hash, blob);
    return part.type === "text" && isBlank(part.text) ? [] : [part];
  });
  if (content.length === 0) throw malformed(path, "the message is empty");
  return { content, blobs: [...blobs.values()] };
}

function readPart({ content, mediaType, filename }: A2APart, path: string): Read {
  const media = mediaOf(mediaType);
  switch (content?.$case) {
    case "text":
      if (media !== "" && !isText(media)) throw unsupported(media, path);
      return text(content.value, path);
    case "data":
      if (media !== "" && !isText(media)) throw unsupported(media, path);
      return text(JSON.stringify(content.value) ?? "", path);
    case "raw": {
      const bytes = Buffer.from(content.value);
      if (isText(media)) return text(named(filename, decoded(bytes, path)), path);
      const known = [...IMAGES, "application/pdf" as const].find((one) => one === media);
      if (known === undefined) throw unsupported(media, path);
      const { source, blob } = readBlob(bytes.toString("base64"), known, path, "the part");
      return { part: known === "application/pdf" ? document(source, filename) : { type: "image", source }, blob };
    }
    case "url": {
      const what = "a part's url is an https: URL";
      if (media === "application/pdf")
        return { part: document(readLink(content.value, path, what).source, filename), blob: null };
      if (media.startsWith("image/")) {
        if (!INPUT_MODES.includes(media)) throw unsupported(media, path);
        return { part: { type: "image", source: readLink(content.value, path, what).source }, blob: null };
      }
      if (media !== "" && !isText(media)) throw unsupported(media, path);
      readLink(content.value, path, what);
      return text(named(filename, content.value), path);
    }
    case undefined:
      throw malformed(path, "a part has a text, raw, url or data");
  }
}

function text(value: string, path: string): Read {
  return { part: { type: "text", text: limitedText(value, path) }, blob: null };
}

function document(source: Extract<Part, { type: "document" }>["source"], filename: string): Part {
  return { type: "document", source, ...(filename === "" ? {} : { name: filename.slice(0, 255).toWellFormed() }) };
}

/** A file's content with its name, so that the model can speak of it. */
function named(filename: string, value: string): string {
  return filename === "" ? value : `${filename.slice(0, 255)}:\n${value}`;
}

function decoded(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw malformed(path, "a text file must be UTF-8");
  }
}

/** A media type without its parameters. */
function mediaOf(mediaType: string): string {
  const [type = ""] = mediaType.toLowerCase().split(";");
  return type.trim() === "image/jpg" ? "image/jpeg" : type.trim();
}

function isText(media: string): boolean {
  return media.startsWith("text/") || /^application\/(?:json|xml|yaml|x-yaml|[a-z0-9.-]+\+(?:json|xml))$/.test(media);
}

function unsupported(media: string, path: string): Error {
  const said = media === "" ? "a file without a media type" : JSON.stringify(media.slice(0, 100));
  return new ContentTypeNotSupportedError(`${path}: ${said} is not supported; text/*, ${INPUT_MODES.join(", ")} are.`);
}
