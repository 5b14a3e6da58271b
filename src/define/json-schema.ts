import { Validator } from "@cfworker/json-schema";
import type { Validated } from "./types.ts";

/** JSON Schema, draft 2020-12, as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const MOST_PROBLEMS = 5;

/**
 * A check of values against a JSON Schema (draft 2020-12). The schema is copied: the validator writes into its own.
 * A schema that can't be used (a reference to nothing) throws when the first value is checked.
 */
export function jsonSchemaCheck(schema: JsonSchema): (input: unknown) => Validated {
  const validator = new Validator(structuredClone(schema), "2020-12", false);
  return (input) => {
    const { valid, errors } = validator.validate(input);
    if (valid) return { ok: true, value: input };
    // A keyword that holds other keywords reports their failures again; only the innermost say what is wrong.
    const innermost = errors.filter(
      (error) => !errors.some((other) => other.keywordLocation.startsWith(`${error.keywordLocation}/`)),
    );
    const problems = innermost.map((error) => ({ path: pathOf(error.instanceLocation), message: error.error }));
    return { ok: false, problem: describeProblems(problems) };
  };
}

/** Problems as text for a model: `path: what is wrong`, a line each, at most five. */
export function describeProblems(problems: readonly { readonly path: string; readonly message: string }[]): string {
  const lines = [...new Set(problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)))];
  const more = lines.length - MOST_PROBLEMS;
  return [...lines.slice(0, MOST_PROBLEMS), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

function pathOf(pointer: string): string {
  const keys = pointer.split("/").slice(1);
  return keys.map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
}
