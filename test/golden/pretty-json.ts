import { elements, members, skipSpace } from "../emulators/common/raw-json.ts";

const WIDTH = 110;

/** What a model or a user wrote, whose spelling is the point: never broken into lines (an `input` that is a list is a request's). */
const VERBATIM: ReadonlySet<string> = new Set(["input"]);

/**
 * JSON text on lines that a person can read. Only line breaks and indents are added: every value keeps the spelling it
 * has, so that keys keep their order and numbers their digits.
 */
export function prettyJson(text: string, indent = ""): string {
  const start = skipSpace(text, 0);
  if (indent.length + text.length <= WIDTH) return text;
  const inner = `${indent}  `;
  if (text[start] === "{") {
    const lines = members(text, start).map(({ key, value }) => {
      const raw = text.slice(value.start, value.end);
      return `${inner}${JSON.stringify(key)}: ${VERBATIM.has(key) && !raw.startsWith("[") ? raw : prettyJson(raw, inner)}`;
    });
    return `{\n${lines.join(",\n")}\n${indent}}`;
  }
  if (text[start] === "[") {
    const lines = elements(text, start).map((span) => `${inner}${prettyJson(text.slice(span.start, span.end), inner)}`);
    return `[\n${lines.join(",\n")}\n${indent}]`;
  }
  return text;
}
