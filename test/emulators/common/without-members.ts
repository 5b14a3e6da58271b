import { elements, members, type Span, skipSpace } from "./raw-json.ts";

/**
 * The source text of a JSON value without the members named in `keys`, at any depth, except inside members named in
 * `opaque`. All other bytes stay as they were sent.
 */
export function withoutMembers(text: string, keys: readonly string[], opaque: ReadonlySet<string>): string {
  if (!keys.some((key) => text.includes(`"${key}"`))) return text;
  return strip(text, { start: skipSpace(text, 0), end: text.length }, keys, opaque);
}

function strip(text: string, span: Span, keys: readonly string[], opaque: ReadonlySet<string>): string {
  const first = text[span.start];
  if (first === "[") return stripArray(text, span, keys, opaque);
  if (first === "{") return stripObject(text, span, keys, opaque);
  return text.slice(span.start, span.end);
}

function stripArray(text: string, span: Span, keys: readonly string[], opaque: ReadonlySet<string>): string {
  let out = "";
  let copied = span.start;
  for (const element of elements(text, span.start)) {
    out += text.slice(copied, element.start) + strip(text, element, keys, opaque);
    copied = element.end;
  }
  return out + text.slice(copied, span.end);
}

function stripObject(text: string, span: Span, keys: readonly string[], opaque: ReadonlySet<string>): string {
  let out = "{";
  let copied = span.start + 1;
  let kept = 0;
  for (const item of members(text, span.start)) {
    const separator = text.slice(copied, item.start);
    copied = item.end;
    if (keys.includes(item.key)) continue;
    // The first member that stays must not begin with the comma of one that was removed before it.
    out += kept === 0 ? separator.replace(",", "") : separator;
    const value = text.slice(item.value.start, item.value.end);
    out += text.slice(item.start, item.value.start);
    out += opaque.has(item.key) ? value : strip(text, item.value, keys, opaque);
    kept += 1;
  }
  return out + text.slice(copied, span.end);
}
