import { createHmac } from "node:crypto";

/** Fixed, so that signatures outlive the process that made them. */
const KEY = "holdfast anthropic emulator";
const MARK = "hfs1";

function mac(text: string, prefix: string): string {
  return createHmac("sha256", KEY).update(`${prefix}\n${text}`).digest("base64url");
}

/** Signs a thinking text that follows the prompt whose hash is `prefix` (see `bindingChain`). */
export function sign(text: string, prefix: string): string {
  return Buffer.from(`${MARK}.${prefix}.${mac(text, prefix)}`).toString("base64");
}

/** What a signature says of a text: made here for a prompt, made here for another text, or made elsewhere. */
export type SignatureReading =
  | { readonly kind: "valid"; readonly prefix: string }
  | { readonly kind: "altered" }
  | { readonly kind: "foreign" };

/** Reads the signature that stands on `text`. */
export function readSignature(signature: string, text: string): SignatureReading {
  const [mark, prefix = "", code] = Buffer.from(signature, "base64").toString("utf8").split(".");
  if (mark !== MARK) return { kind: "foreign" };
  return code === mac(text, prefix) ? { kind: "valid", prefix } : { kind: "altered" };
}
