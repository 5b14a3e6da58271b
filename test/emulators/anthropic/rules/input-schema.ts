import { toolsOf } from "../content.ts";
import { type Failure, invalid } from "../failure.ts";
import type { Rule } from "./rule.ts";

const INVALID =
  "JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.";
const TYPES = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** E-A08: `input_schema` is an object schema, and valid as far as types, `properties`, `required`, `enum` and `items` go. */
export const inputSchemas: Rule = ({ body }) => {
  for (const [index, tool] of toolsOf(body).entries()) {
    if (!("input_schema" in tool) || typeof tool.input_schema !== "object" || tool.input_schema === null) continue;
    const failure = check(tool.input_schema, `tools.${index}.custom.input_schema`);
    if (failure !== null) return failure;
  }
  return null;
};

function check(schema: object, path: string): Failure | null {
  const type: unknown = Reflect.get(schema, "type");
  if (type === undefined) return invalid("E-A08", `${path}.type: Field required`);
  if (type !== "object") return invalid("E-A08", `${path}.type: Input should be 'object'`);
  if (["oneOf", "allOf", "anyOf"].some((key) => key in schema)) {
    return invalid("E-A08", `${path}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
  }
  if (!isSchema(schema)) return invalid("E-A08", `${path}: ${INVALID}`);
  const properties: unknown = Reflect.get(schema, "properties");
  if (!isObject(properties) || Object.keys(properties).every((key) => PROPERTY.test(key))) return null;
  return invalid("E-A08", `${path}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`);
}

function isSchema(value: unknown): boolean {
  if (typeof value === "boolean") return true;
  if (!isObject(value)) return false;
  const { type, properties, required, items, enum: values, anyOf, oneOf, allOf, $defs } = value;
  return (
    (type === undefined || isType(type) || (Array.isArray(type) && type.every(isType))) &&
    (required === undefined || (Array.isArray(required) && required.every((name) => typeof name === "string"))) &&
    (values === undefined || Array.isArray(values)) &&
    (items === undefined || isSchema(items)) &&
    [anyOf, oneOf, allOf].every((list) => list === undefined || (Array.isArray(list) && list.every(isSchema))) &&
    [properties, $defs].every((map) => map === undefined || (isObject(map) && Object.values(map).every(isSchema)))
  );
}

function isType(value: unknown): boolean {
  return typeof value === "string" && TYPES.has(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
