/** Why a function's `parameters` are refused: what is wrong, and where in the schema. */
export interface SchemaProblem {
  readonly context: readonly string[];
  readonly reason: string;
}

const FORBIDDEN = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "patternProperties",
];

/** The `type` that `parameters` must not have, as the API prints it, or `null` where the type is `object`. */
export function wrongRootType(parameters: object): string | null {
  const type: unknown = Reflect.get(parameters, "type");
  if (type === "object") return null;
  return type === undefined ? '"None"' : JSON.stringify(type);
}

/**
 * E-O04: what strict mode refuses in a schema: an object that is not closed or does not require all its properties, a
 * property without a type, and the keywords that cannot be enforced.
 */
export function strictProblem(schema: unknown, context: readonly string[] = []): SchemaProblem | null {
  if (!isObject(schema)) return null;
  const forbidden = FORBIDDEN.find((keyword) => keyword in schema);
  if (forbidden !== undefined) return { context, reason: `'${forbidden}' is not permitted.` };
  if (context.length === 0 && "anyOf" in schema) return { context, reason: "'anyOf' is not permitted." };
  if (typesOf(schema).includes("object")) {
    const open = notClosed(schema);
    if (open !== null) return { context, reason: open };
  }
  if (!["type", "$ref", "anyOf", "enum", "const"].some((keyword) => keyword in schema)) {
    return { context, reason: "schema must have a 'type' key." };
  }
  return inner(schema, context);
}

function notClosed(schema: Readonly<Record<string, unknown>>): string | null {
  if (schema.additionalProperties !== false) {
    return "'additionalProperties' is required to be supplied and to be false.";
  }
  const properties = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const missing = properties.find((name) => !required.includes(name));
  if (missing === undefined) return null;
  return `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
}

function inner(schema: Readonly<Record<string, unknown>>, context: readonly string[]): SchemaProblem | null {
  for (const keyword of ["properties", "$defs", "definitions"]) {
    const map = schema[keyword];
    if (!isObject(map)) continue;
    for (const [name, member] of Object.entries(map)) {
      const problem = strictProblem(member, [...context, keyword, name]);
      if (problem !== null) return problem;
    }
  }
  const branches: readonly unknown[] = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  for (const [index, branch] of branches.entries()) {
    const problem = strictProblem(branch, [...context, "anyOf", String(index)]);
    if (problem !== null) return problem;
  }
  return isObject(schema.items) ? strictProblem(schema.items, [...context, "items"]) : null;
}

function typesOf({ type }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
