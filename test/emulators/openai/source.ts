import { elements, members, type Span, skipSpace } from "../common/raw-json.ts";
import { withoutMembers } from "../common/without-members.ts";

/** Members whose content is the application's own, in which `prompt_cache_breakpoint` is no marker. */
const OPAQUE: ReadonlySet<string> = new Set(["arguments", "parameters", "schema", "output_schema"]);

/** The parts of a request as the client spelled them, without cache markers. */
export interface RequestSource {
  readonly tools: readonly string[];
  /** The instructions as JSON text; empty if there are none. */
  readonly instructions: string;
  readonly items: readonly string[];
  /** All other members of the body, by key. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Slices the text of a body that the schema has accepted. An input that is a string is one user message. */
export function sourceOf(bodyText: string): RequestSource {
  const all = new Map(members(bodyText, skipSpace(bodyText, 0)).map(({ key, value }) => [key, value]));
  const take = (key: string): Span | undefined => {
    const span = all.get(key);
    all.delete(key);
    return span;
  };
  const tools = take("tools");
  const instructions = take("instructions");
  return {
    tools:
      tools === undefined ? [] : elements(bodyText, tools.start).map(({ start, end }) => bodyText.slice(start, end)),
    instructions: instructions === undefined ? "" : bodyText.slice(instructions.start, instructions.end),
    items: itemsOf(bodyText, take("input")),
    fields: new Map([...all].map(([key, { start, end }]) => [key, bodyText.slice(start, end)])),
  };
}

function itemsOf(text: string, span: Span | undefined): string[] {
  if (span === undefined) return [];
  if (text[span.start] === '"') return [`{"role":"user","content":${text.slice(span.start, span.end)}}`];
  if (text[span.start] !== "[") return [];
  return elements(text, span.start).map(({ start, end }) =>
    withoutMembers(text.slice(start, end), ["prompt_cache_breakpoint"], OPAQUE),
  );
}

/** A definition without what says only how it was declared. */
export function definitionSource(tool: string): string {
  return withoutMembers(tool, ["defer_loading"], OPAQUE);
}
