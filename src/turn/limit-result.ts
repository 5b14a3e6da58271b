import type { Part } from "../values/entry.ts";
import { BATCH, MEDIA_CHARS, RESULT_BYTES } from "./limits.ts";

/** What the result of one call of so many may take: bytes of text, and characters of base64. */
export function shareOf(calls: number): { readonly textBytes: number; readonly mediaChars: number } {
  return {
    textBytes: Math.min(RESULT_BYTES, Math.floor(BATCH.textBytes / calls)),
    mediaChars: Math.min(MEDIA_CHARS, Math.floor(BATCH.mediaChars / calls)),
  };
}

/**
 * A result's content within `most` bytes of text over all its parts, {@link RESULT_BYTES} unless given; the part that crosses the limit is cut in
 * the middle, with a line that says so, and text parts behind it are left out. Lone surrogates, which no API takes,
 * become U+FFFD.
 */
export function limitResult(content: readonly Part[], most = RESULT_BYTES): Part[] {
  let room = most;
  return content.flatMap((part): Part[] => {
    if (part.type !== "text") return [part];
    if (room <= 0) return [];
    const text = part.text.toWellFormed();
    const bytes = new TextEncoder().encode(text);
    const limit = room;
    room -= bytes.length;
    return [{ type: "text", text: bytes.length <= limit ? text : cut(bytes, limit, most) }];
  });
}

/** Keeps the head and the tail: the beginning says what it is, the end how it came out. */
function cut(bytes: Uint8Array, limit: number, most: number): string {
  const half = Math.floor(limit / 2);
  const head = characterStart(bytes, half);
  const tail = characterStart(bytes, bytes.length - half);
  const decode = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
  const line = `[… ${tail - head} bytes cut here: a result may hold ${most} …]`;
  return `${decode(0, head)}\n${line}\n${decode(tail, bytes.length)}`;
}

/** The position of the character that the byte at `at` belongs to. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
