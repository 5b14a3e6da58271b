/** Bytes as hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Bytes from hexadecimal digits, spaces and a leading 0x allowed. Throws for anything else. */
export function fromHex(text: string): Uint8Array {
  const digits = text.replaceAll(/\s+/g, "").replace(/^0x/i, "");
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) throw new Error("The text is not hexadecimal.");
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Bytes as Base64. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Bytes from Base64 or its URL form, padding optional. Throws for anything else. */
export function fromBase64(text: string): Uint8Array {
  try {
    const binary = atob(text.trim().replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    throw new Error("The text is not Base64.");
  }
}
