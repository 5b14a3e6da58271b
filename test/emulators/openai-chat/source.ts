import { elements, members, skipSpace } from "../common/raw-json.ts";

/** The parts of a request as the client spelled them. */
export interface RequestSource {
  readonly tools: readonly string[];
  readonly messages: readonly string[];
  /** All other members of the body, by key. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Slices the text of a body that the schema has accepted. */
export function sourceOf(bodyText: string): RequestSource {
  const all = new Map(members(bodyText, skipSpace(bodyText, 0)).map(({ key, value }) => [key, value]));
  const take = (key: string): string[] => {
    const span = all.get(key);
    all.delete(key);
    return span === undefined ? [] : elements(bodyText, span.start).map(({ start, end }) => bodyText.slice(start, end));
  };
  const [tools, messages] = [take("tools"), take("messages")];
  return {
    tools,
    messages,
    fields: new Map([...all].map(([key, { start, end }]) => [key, bodyText.slice(start, end)])),
  };
}
