/** A part of the language that TypeScript's library doesn't know yet (JSON.parse source text access, ES2026). */
interface SourceAccess {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}

const json = JSON as unknown as SourceAccess;

/** As `JSON.parse`, but a number that a float can't hold, such as a long id, keeps its digits for `JSON.stringify`. */
export function parseExactly(text: string): unknown {
  return json.parse(text, (_, value, { source }) =>
    typeof value !== "number" || source === undefined || String(value) === source ? value : json.rawJSON(source),
  );
}

/** Whether `parseExactly` made this object of a number. */
export function isExactNumber(value: object): boolean {
  return json.isRawJSON(value);
}
