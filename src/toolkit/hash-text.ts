import * as z from "zod";
import { defineTool } from "../define/tool.ts";
import { toBase64, toHex } from "./bytes.ts";

/** Digests of a text's UTF-8 bytes. */
export const hashText = defineTool({
  name: "hash_text",
  description: "Computes a hash, digest or checksum of a text: SHA-1, SHA-256, SHA-384 or SHA-512.",
  risk: "read",
  idempotent: true,
  input: z.object({
    text: z.string().max(500_000).describe("The text, hashed as UTF-8."),
    algorithm: z.enum(["SHA-1", "SHA-256", "SHA-384", "SHA-512"]).default("SHA-256").describe("Hash function."),
    encoding: z.enum(["hex", "base64"]).default("hex").describe("How the digest is written."),
  }),
  async execute({ text, algorithm, encoding }) {
    const digest = new Uint8Array(await crypto.subtle.digest(algorithm, new TextEncoder().encode(text)));
    return encoding === "hex" ? toHex(digest) : toBase64(digest);
  },
});
