/** JSON as it is written: members may stand twice, and anything may be spelled as no `JSON.stringify` would. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly members: readonly Member[] }
  /** This very text. */
  | { readonly text: string };

export type Member = readonly [key: string, value: Json];

/** A value as {@link Json}. */
export function jsonOf(value: unknown): Json {
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value === "object" && value !== null) {
    return { members: Object.entries(value).map(([key, member]): Member => [key, jsonOf(member)]) };
  }
  return typeof value === "boolean" || typeof value === "number" || typeof value === "string" ? value : null;
}

export function textOf(json: Json): string {
  if (isList(json)) return `[${json.map(textOf).join(",")}]`;
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  if ("text" in json) return json.text;
  return `{${json.members.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value)}`).join(",")}}`;
}

/** The values in it, itself included, in the order in which they are written. */
export function places(json: Json): Json[] {
  if (isList(json)) return [json, ...json.flatMap(places)];
  if (typeof json === "object" && json !== null && "members" in json) {
    return [json, ...json.members.flatMap(([, value]) => places(value))];
  }
  return [json];
}

/** The same with the value at that place, counted as {@link places} does, replaced by what `change` makes of it. */
export function changedAt(json: Json, at: number, change: (value: Json) => Json): Json {
  let left = at;
  const walk = (value: Json): Json => {
    if (left-- === 0) return change(value);
    if (isList(value)) return value.map(walk);
    if (typeof value === "object" && value !== null && "members" in value) {
      return { members: value.members.map(([key, member]): Member => [key, walk(member)]) };
    }
    return value;
  };
  return walk(json);
}

export function isList(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}
