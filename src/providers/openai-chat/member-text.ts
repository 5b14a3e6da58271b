/**
 * The text of a member's value in the JSON text of an object, as it is spelled there; the last one counts, as for
 * `JSON.parse`. Null where there is none. The text must be valid JSON.
 */
export function memberText(json: string, key: string): string | null {
  let depth = 0;
  let name: string | null = null;
  let start = 0;
  let found: string | null = null;
  const close = (end: number) => {
    if (name === key) found = json.slice(start, end).trim();
    name = null;
  };
  for (let index = 0; index < json.length; index++) {
    const character = json[index];
    if (character === '"') {
      const end = stringEnd(json, index);
      if (depth === 1 && name === null) {
        const value: unknown = JSON.parse(json.slice(index, end));
        name = String(value);
        start = json.indexOf(":", end) + 1;
        index = start - 1;
      } else index = end - 1;
    } else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") {
      if (depth === 1) close(index);
      depth--;
    } else if (character === "," && depth === 1) close(index);
  }
  return found;
}

/** Behind the closing quote of the string that opens at `start`. */
function stringEnd(json: string, start: number): number {
  let index = start + 1;
  while (json[index] !== '"') index += json[index] === "\\" ? 2 : 1;
  return index + 1;
}
