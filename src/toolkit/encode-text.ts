import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { fromBase64, fromHex, toBase64, toHex } from "./bytes.ts";

type Format = "base64" | "base64url" | "url" | "hex";

/** Text to and from the usual encodings. */
export const encodeText = defineTool({
  name: "encode_text",
  description: "Encodes a text as Base64, Base64url, URL (percent) or hexadecimal, or decodes one back to text.",
  risk: "read",
  idempotent: true,
  input: z.object({
    text: z.string().max(200_000).describe("The text to encode, or the encoded text."),
    format: z.enum(["base64", "base64url", "url", "hex"]).describe("The encoding."),
    direction: z.enum(["encode", "decode"]).default("encode").describe("Which way."),
  }),
  execute: ({ text, format, direction }) => (direction === "encode" ? encode(text, format) : decode(text, format)),
});

function encode(text: string, format: Format): string {
  const bytes = new TextEncoder().encode(text);
  switch (format) {
    case "base64":
      return toBase64(bytes);
    case "base64url":
      return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    case "url":
      return encodeURIComponent(text.toWellFormed());
    case "hex":
      return toHex(bytes);
  }
}

function decode(text: string, format: Format): string {
  switch (format) {
    case "base64":
    case "base64url":
      return utf8(fromBase64(text));
    case "url":
      return percentDecoded(text);
    case "hex":
      return utf8(fromHex(text));
  }
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Error("The text is not percent-encoded UTF-8.");
  }
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error("What comes out is not text (UTF-8).");
  }
}
