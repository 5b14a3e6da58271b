import { createHmac } from "node:crypto";

/** Fixed, so that blobs outlive the process that made them. */
const KEY = "holdfast openai emulator";
const START = "gAAAAAB";
const MARK = "hfo1";

/** Encrypted content as the API hands it out: nobody but the emulator reads it, and it says which model made it. */
export function seal(text: string, model: string): string {
  const payload = Buffer.from(JSON.stringify({ model, text })).toString("base64url");
  return `${START}${Buffer.from(`${MARK}.${payload}.${mac(payload)}`).toString("base64")}`;
}

/** What a blob holds, or `null` if it was not made here or was altered. */
export function unseal(blob: string): { readonly model: string; readonly text: string } | null {
  if (!blob.startsWith(START)) return null;
  const [mark, payload = "", code] = Buffer.from(blob.slice(START.length), "base64").toString("utf8").split(".");
  if (mark !== MARK || code !== mac(payload)) return null;
  return JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
}

function mac(payload: string): string {
  return createHmac("sha256", KEY).update(payload).digest("base64url");
}
