/**
 * Bytes of canonical base64 (RFC 4648, section 4: standard alphabet, padded, no white space, no stray bits at its end),
 * or null for any other text. Decodes once, and looks again at the text's last four characters only.
 */
export function decodeBase64(text: string): Buffer | null {
  if (text.length % 4 !== 0) return null;
  const bytes = Buffer.from(text, "base64");
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  // Buffer leaves out what is not base64, which shows in the length, and takes the URL alphabet as well.
  if (bytes.length !== (text.length / 4) * 3 - padding || text.includes("-") || text.includes("_")) return null;
  const tail = bytes.subarray(bytes.length - ((3 - padding) % 3 || 3));
  return text === "" || tail.toString("base64") === text.slice(-4) ? bytes : null;
}
