import type { Part, Source } from "../../values/entry.ts";
import { blobToken } from "../contract.ts";

/** A text, image or document block, as JSON text; null for a text that is blank, which the API refuses (A14). */
export function partBlock(part: Part): string | null {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? null : textBlock(part.text);
    case "image":
      return `{"type":"image","source":${sourceOf(part.source)}}`;
    case "document": {
      const title = part.name === undefined ? "" : `,"title":${JSON.stringify(part.name)}`;
      return `{"type":"document","source":${sourceOf(part.source)}${title}}`;
    }
  }
}

export function textBlock(text: string): string {
  return `{"type":"text","text":${JSON.stringify(text)}}`;
}

function sourceOf(source: Source): string {
  switch (source.type) {
    case "url":
      return `{"type":"url","url":${JSON.stringify(source.url)}}`;
    case "blob":
      return `{"type":"base64","media_type":${JSON.stringify(source.media)},"data":"${blobToken(source.hash)}"}`;
  }
}
