/** An escape in JSON text: a surrogate pair, half of one, or any other. */
const ESCAPE = /\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\(ud[89a-f][0-9a-f]{2})|\\./gi;

/**
 * JSON text that a model wrote, valid or not, with U+FFFD for half a surrogate pair, spelled as a character or as an
 * escape: no API takes the one or the other back, and a session would end with it. All else stays byte for byte.
 */
export function wholeCharacters(json: string): string {
  return json.toWellFormed().replace(ESCAPE, (found, half: string | undefined) => (half ? "\\ufffd" : found));
}
