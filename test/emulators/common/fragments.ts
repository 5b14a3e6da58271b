/**
 * Cuts text into pieces of the given sizes, taken round and round. The pieces fall anywhere, inside JSON strings too,
 * but never between the two halves of one character.
 */
export function fragments(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (let turn = 0; at < text.length; turn += 1) {
    let end = Math.min(text.length, at + Math.max(1, sizes[turn % sizes.length] ?? 1));
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff && end < text.length) end += 1;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}
