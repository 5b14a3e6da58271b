import type { Part } from "../values/entry.ts";
import { RESULT_BYTES } from "./limits.ts";

/**
 * A result's content within {@link RESULT_BYTES} of text over all its parts; the part that crosses the limit is cut in
 * the middle, with a line that says so, and text parts behind it are left out. Lone surrogates, which no API takes,
 * become U+FFFD.
 */
export function limitResult(content: readonly Part[]): Part[] {
  let room = RESULT_BYTES;
  return content.flatMap((part): Part[] => {
    if (part.type !== "text") return [part];
    if (room <= 0) return [];
    const text = part.text.toWellFormed();
    const bytes = new TextEncoder().encode(text);
    const limit = room;
    room -= bytes.length;
    return [{ type: "text", text: bytes.length <= limit ? text : cut(bytes, limit) }];
  });
}

/** Keeps the head and the tail: the beginning says what it is, the end how it came out. */
function cut(bytes: Uint8Array, limit: number): string {
  const half = Math.floor(limit / 2);
  const head = characterStart(bytes, half);
  const tail = characterStart(bytes, bytes.length - half);
  const decode = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
  const line = `[… ${tail - head} bytes cut here: a result may hold ${RESULT_BYTES} …]`;
  return `${decode(0, head)}\n${line}\n${decode(tail, bytes.length)}`;
}

/** The position of the character that the byte at `at` belongs to. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
