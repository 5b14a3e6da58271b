import type { z } from "zod";
import { type Failure, invalid } from "../failure.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** E-O02: the first thing that is wrong with a body's shape, in the API's words. */
export function firstIssue(error: z.ZodError, body: unknown): Failure {
  const [issue] = error.issues;
  return issue === undefined ? invalid("E-O02", "Invalid request.") : describe(issue, [], body);
}

function describe(issue: Issue, base: Path, body: unknown): Failure {
  const path = [...base, ...issue.path];
  const param = spell(path);
  const found = valueAt(body, path);
  const refuse = (message: string, code: string, at = param) => invalid("E-O02", message, at, code);
  switch (issue.code) {
    case "unrecognized_keys": {
      const at = spell([...path, issue.keys[0] ?? ""]);
      return refuse(`Unknown parameter: '${at}'.`, "unknown_parameter", at);
    }
    case "invalid_union":
      return describeUnion(issue, path, body);
    case "invalid_value":
      if (found === undefined) return missing(path);
      return refuse(
        `Invalid value: '${String(found)}'. Supported values are: ${listed(issue.values)}.`,
        "invalid_value",
      );
    case "invalid_type":
      if (found === undefined) return missing(path);
      return wrongType(param, issue.expected, found);
    case "too_small":
      if (issue.origin === "array") {
        const text = `Invalid '${param}': empty array. Expected an array with minimum length ${issue.minimum}, but got an empty array instead.`;
        return refuse(text, "empty_array");
      }
      return refuse(outOfRange(param, "below", "minimum", ">=", issue.minimum, found), code(param, "min"));
    case "too_big":
      if (issue.origin === "string") {
        const length = typeof found === "string" ? found.length : 0;
        const text = `Invalid '${param}': string too long. Expected a string with maximum length ${issue.maximum}, but got a string with length ${length} instead.`;
        return refuse(text, "string_above_max_length");
      }
      if (issue.origin === "array") {
        const length = Array.isArray(found) ? found.length : 0;
        return refuse(tooLong(param, Number(issue.maximum), length), "array_above_max_length");
      }
      return refuse(outOfRange(param, "above", "maximum", "<=", issue.maximum, found), code(param, "max"));
    default:
      return refuse(`Invalid '${param}': ${issue.message}`, "invalid_value");
  }
}

/** Fields that count: out of their range they are called integers, whatever else is called a decimal. */
const COUNTS = /(?:tokens|calls|logprobs|threshold|seed|\bn)$/;

function numberKind(param: string): "integer" | "decimal" {
  return COUNTS.test(param) ? "integer" : "decimal";
}

function code(param: string, end: "min" | "max"): string {
  const kind = numberKind(param);
  return end === "min" ? `${kind}_below_min_value` : `${kind}_above_max_value`;
}

function outOfRange(
  param: string,
  side: "below" | "above",
  end: "minimum" | "maximum",
  sign: ">=" | "<=",
  limit: number | bigint,
  found: unknown,
): string {
  const kind = numberKind(param);
  return `Invalid '${param}': ${kind} ${side} ${end} value. Expected a value ${sign} ${limit}, but got ${String(found)} instead.`;
}

/** The API's text for a list that is too long. */
export function tooLong(param: string, limit: number, length: number): string {
  return `Invalid '${param}': array too long. Expected an array with maximum length ${limit}, but got an array with length ${length} instead.`;
}

function missing(path: Path): Failure {
  const at = spell(path);
  return invalid("E-O02", `Missing required parameter: '${at}'.`, at, "missing_required_parameter");
}

const KINDS: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "a boolean",
  int: "an integer",
  number: "a decimal",
  object: "an object",
  record: "an object",
  string: "a string",
};

function wrongType(param: string, expected: string, found: unknown): Failure {
  const wanted = KINDS[expected] ?? expected;
  const message = `Invalid type for '${param}': expected ${wanted}, but got ${kindOf(found)} instead.`;
  return invalid("E-O02", message, param, "invalid_type");
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return KINDS[typeof value] ?? typeof value;
}

function listed(values: readonly unknown[]): string {
  const quoted = values.map((value) => `'${String(value)}'`);
  const last = quoted.at(-1) ?? "";
  if (quoted.length < 3) return quoted.join(" and ");
  return `${quoted.slice(0, -1).join(", ")}, and ${last}`;
}

/** A union either has a tag, which is missing or unknown, or branches, of which the one that fits the value's kind speaks. */
function describeUnion(issue: Extract<Issue, { code: "invalid_union" }>, path: Path, body: unknown): Failure {
  const tag = issue.discriminator;
  if (tag !== undefined) {
    const owner = path.at(-1) === tag ? path.slice(0, -1) : path;
    const at = [...owner, tag];
    const value = valueAt(body, at);
    if (value === undefined || value === null) return missing(at);
    const options = "options" in issue ? (issue.options ?? []) : [];
    const param = spell(at);
    const message = `Invalid value: '${String(value)}'. Supported values are: ${listed(options)}.`;
    return invalid("E-O02", message, param, "invalid_value");
  }
  const branches = issue.errors.map(([first]) => first).filter((first) => first !== undefined);
  const fitting = branches.find((first) => first.path.length > 0 || first.code === "unrecognized_keys");
  if (fitting !== undefined) return describe(fitting, path, body);
  const found = valueAt(body, path);
  if (found === undefined) return missing(path);
  const kinds = branches.flatMap((first) => (first.code === "invalid_type" ? [KINDS[first.expected] ?? ""] : []));
  const param = spell(path);
  const text = `Invalid type for '${param}': expected one of ${kinds.join(" or ")}, but got ${kindOf(found)} instead.`;
  return invalid("E-O02", text, param, "invalid_type");
}

/** `input[0].content[1].type`, as the API spells paths. */
export function spell(path: Path): string {
  return path
    .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${String(key)}`))
    .join("");
}

function valueAt(body: unknown, path: Path): unknown {
  let value = body;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
