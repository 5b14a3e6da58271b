import type { z } from "zod";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** The text in which the API tells of the first thing that is wrong with a body's shape: path, colon, reason. */
export function firstIssue(error: z.ZodError, body: unknown): string {
  const [issue] = error.issues;
  return issue === undefined ? "Invalid request" : describe(issue, [], body);
}

function describe(issue: Issue, base: Path, body: unknown): string {
  const path = [...base, ...issue.path];
  const at = (more: Path = []) => spell([...path, ...more], body);
  switch (issue.code) {
    case "unrecognized_keys":
      return `${at(issue.keys.slice(0, 1))}: Extra inputs are not permitted`;
    case "invalid_union":
      return describeUnion(issue, path, body);
    case "invalid_value":
      if (valueAt(body, path) === undefined) return `${at()}: Field required`;
      return `${at()}: Input should be ${alternatives(issue.values.map((value) => `'${String(value)}'`))}`;
    case "invalid_type":
      if (valueAt(body, path) === undefined) return `${at()}: Field required`;
      return `${at()}: Input should be a valid ${kinds[issue.expected] ?? issue.expected}`;
    case "invalid_format":
      if (issue.format === "regex") return `${at()}: String should match pattern '${bare(issue.pattern)}'`;
      return `${at()}: ${issue.message}`;
    case "too_small":
      if (issue.origin === "string") return `${at()}: String should have at least ${issue.minimum} character`;
      return `${at()}: Input should be greater than or equal to ${issue.minimum}`;
    case "too_big":
      return `${at()}: Input should be less than or equal to ${issue.maximum}`;
    default:
      return `${at()}: ${issue.message}`;
  }
}

const kinds: Readonly<Record<string, string>> = {
  array: "list",
  boolean: "boolean",
  int: "integer",
  number: "number",
  object: "dictionary",
  record: "dictionary",
  string: "string",
};

function bare(pattern: string | undefined): string {
  return (pattern ?? "").replace(/^\/|\/$/g, "");
}

function alternatives(values: readonly string[]): string {
  const last = values.at(-1) ?? "";
  return values.length < 2 ? last : `${values.slice(0, -1).join(", ")} or ${last}`;
}

/** A union either has a tag, which is missing or unknown, or branches, of which the one that fits the value's kind speaks. */
function describeUnion(issue: Extract<Issue, { code: "invalid_union" }>, path: Path, body: unknown): string {
  const tag = issue.discriminator;
  if (tag !== undefined) {
    const value = valueAt(body, [...path.slice(0, path.length - (path.at(-1) === tag ? 1 : 0)), tag]);
    const owner = path.at(-1) === tag ? path.slice(0, -1) : path;
    if (value === undefined || value === null) return `${spell(owner, body, false)}.${tag}: Field required`;
    return `${spell(owner, body, false)}: Input tag '${String(value)}' found using '${tag}' does not match any of the expected tags`;
  }
  const branches = issue.errors.map(([first]) => first).filter((first) => first !== undefined);
  const fitting = branches.find((first) => first.path.length > 0 || first.code === "unrecognized_keys") ?? branches[0];
  return fitting === undefined ? `${spell(path, body)}: ${issue.message}` : describe(fitting, path, body);
}

/** `tools.0.custom.name`: an element of `tools` or `content` is followed by its type, as the API spells paths. */
function spell(path: Path, body: unknown, tagLast = true): string {
  const words: string[] = [];
  for (const [index, key] of path.entries()) {
    words.push(String(key));
    const list = path[index - 1];
    const tagged = typeof key === "number" && (list === "tools" || list === "content");
    if (!tagged || (index === path.length - 1 && !tagLast)) continue;
    const type = valueAt(body, [...path.slice(0, index + 1), "type"]);
    if (typeof type === "string") words.push(type);
    else if (list === "tools") words.push("custom");
  }
  return words.join(".");
}

function valueAt(body: unknown, path: Path): unknown {
  let value = body;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
