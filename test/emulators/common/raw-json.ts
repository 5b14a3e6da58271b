/**
 * Cuts valid JSON text into the source text of its parts, so that a request can be compared byte by byte as it was sent.
 * Every function takes text that `JSON.parse` has accepted.
 */

/** Where a value stands in the text: `[start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One member of an object: the span from its key to the end of its value, and the value alone. */
export interface Member extends Span {
  readonly key: string;
  readonly value: Span;
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The first position at or after `at` that is not white space. */
export function skipSpace(text: string, at: number): number {
  let position = at;
  while (text.charCodeAt(position) <= 32) position += 1;
  return position;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}

/** The position after the value that starts at `start`. */
export function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    let end = start;
    while (end < text.length && !isDelimiter(text.charCodeAt(end))) end += 1;
    return end;
  }
  let depth = 0;
  const structure = /["[\]{}]/g;
  structure.lastIndex = start;
  for (let found = structure.exec(text); found !== null; found = structure.exec(text)) {
    const code = text.charCodeAt(found.index);
    if (code === QUOTE) structure.lastIndex = endOfString(text, found.index);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else {
      depth -= 1;
      if (depth === 0) return found.index + 1;
    }
  }
  return text.length;
}

function isDelimiter(code: number): boolean {
  return code <= 32 || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

/** The members of the object that starts at `start`, in source order. */
export function members(text: string, start: number): Member[] {
  const found: Member[] = [];
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACE) {
    const keyEnd = endOfString(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, valueStart);
    found.push({ key: String(key), start: at, end, value: { start: valueStart, end } });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return found;
}

/** The elements of the array that starts at `start`. */
export function elements(text: string, start: number): Span[] {
  const found: Span[] = [];
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = endOfValue(text, at);
    found.push({ start: at, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return found;
}

/** The value of one member of an object, or `undefined`. A key that stands twice gives the last, as `JSON.parse` does. */
export function member(text: string, start: number, key: string): Span | undefined {
  return members(text, start).findLast((candidate) => candidate.key === key)?.value;
}
