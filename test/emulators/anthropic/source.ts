import { elements, member, members, type Span, skipSpace } from "../common/raw-json.ts";
import { withoutMembers } from "../common/without-members.ts";

/** Members whose content is the application's own, in which `cache_control` is no marker. */
const OPAQUE: ReadonlySet<string> = new Set(["input", "input_schema", "input_examples", "schema"]);

/** The parts of a request as the client spelled them, without cache markers. A string counts as one text block. */
export interface RequestSource {
  readonly tools: readonly string[];
  readonly system: readonly string[];
  readonly messages: readonly (readonly string[])[];
  /** All other members of the body, by key. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Slices the text of a body that the schema has accepted. */
export function sourceOf(bodyText: string): RequestSource {
  const all = new Map(members(bodyText, skipSpace(bodyText, 0)).map(({ key, value }) => [key, value]));
  const list = (key: string): Span[] => {
    const span = all.get(key);
    return span === undefined ? [] : elements(bodyText, span.start);
  };
  const source = {
    tools: list("tools").map((span) => unmarked(bodyText, span)),
    system: contentBlocks(bodyText, all.get("system")),
    messages: list("messages").map((span) => contentBlocks(bodyText, member(bodyText, span.start, "content"))),
  };
  for (const key of Object.keys(source)) all.delete(key);
  return { ...source, fields: new Map([...all].map(([key, { start, end }]) => [key, bodyText.slice(start, end)])) };
}

/** A definition as it stands where a reference is expanded: how it was declared makes no difference there. */
export function definitionSource(tool: string): string {
  return withoutMembers(tool, ["defer_loading"], OPAQUE);
}

/** The source of the definition that a `tool_addition` holds by value. */
export function inlineDefinition(addition: string): string {
  const tool = member(addition, skipSpace(addition, 0), "tool");
  const definition = tool === undefined ? undefined : member(addition, tool.start, "definition");
  return definition === undefined ? "" : addition.slice(definition.start, definition.end);
}

function contentBlocks(text: string, span: Span | undefined): string[] {
  if (span === undefined) return [];
  const first = text[span.start];
  if (first === '"') return [`{"type":"text","text":${text.slice(span.start, span.end)}}`];
  return first === "[" ? elements(text, span.start).map((element) => unmarked(text, element)) : [];
}

function unmarked(text: string, span: Span): string {
  return withoutMembers(text.slice(span.start, span.end), ["cache_control"], OPAQUE);
}
