import type { Part, Source } from "../../values/entry.ts";
import { blobToken } from "../contract.ts";

/** A part of a message or of a tool's output, as JSON text. */
export function inputPart(part: Part): string {
  switch (part.type) {
    case "text":
      return `{"type":"input_text","text":${JSON.stringify(part.text)}}`;
    case "image":
      return `{"type":"input_image","detail":"auto","image_url":${urlOf(part.source)}}`;
    case "document": {
      const name = JSON.stringify(part.name ?? "document.pdf");
      if (part.source.type === "url") return `{"type":"input_file","file_url":${urlOf(part.source)}}`;
      return `{"type":"input_file","filename":${name},"file_data":${urlOf(part.source)}}`;
    }
  }
}

/** An address, or the blob as one. */
export function urlOf(source: Source): string {
  switch (source.type) {
    case "url":
      return JSON.stringify(source.url);
    case "blob":
      return `${JSON.stringify(`data:${source.media};base64,`).slice(0, -1)}${blobToken(source.hash)}"`;
  }
}
