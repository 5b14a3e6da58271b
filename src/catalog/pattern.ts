const PATTERN = /^[A-Za-z0-9_*-]{1,128}$/;

/** Whether a text can be a name pattern at all: the characters of names, and `*` for any run of characters. */
export function isPattern(text: string): boolean {
  return PATTERN.test(text);
}

/** Whether `name` matches `pattern`. Each piece between stars is sought once, left to right: no backtracking. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) return name === pattern;
  if (!name.startsWith(head) || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let at = head.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= end;
}
