import { HoldfastError } from "../values/errors.ts";

/** One call of an object carries 32 MiB; what surrounds the texts takes a little of that. */
const RPC_BYTES = 31 * 1024 * 1024;

/**
 * Throws `too_large` when a request to a session is more than one call carries, which would otherwise break the call
 * without a word that anybody could read. `what` names it for the caller.
 */
export function mustFitCall(request: unknown, what: string): void {
  let chars = 0;
  const texts: string[] = [];
  const visit = (value: unknown) => {
    if (typeof value === "string") {
      chars += value.length;
      texts.push(value);
    } else if (typeof value === "object" && value !== null) {
      for (const inner of Object.values(value)) visit(inner);
    }
  };
  visit(request);
  // A string crosses with one byte a character, or with two where one of them needs it.
  if (chars * 2 <= RPC_BYTES) return;
  const bytes = texts.reduce((sum, text) => sum + text.length * (isLatin1(text) ? 1 : 2), 0);
  if (bytes <= RPC_BYTES) return;
  const size = Math.ceil(bytes / 1024 / 1024);
  throw new HoldfastError({
    reason: "too_large",
    message: `${what} is too large to be stored at once: ${size} MB, where 31 MB fit.`,
  });
}

function isLatin1(text: string): boolean {
  return !/[\u0100-\uffff]/.test(text);
}
