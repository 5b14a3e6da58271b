/** What strict mode lets a schema say beside its structure (OpenAI's guide to structured outputs). */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...["type", "description", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf"],
  ...["$ref", "$defs", "pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum"],
  ...["exclusiveMaximum", "minItems", "maxItems"],
]);
const FORMATS: ReadonlySet<unknown> = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
]);
const DEEPEST = 5;
const MOST_PROPERTIES = 100;

/**
 * Whether a tool's schema can be sent as strict, as it is: every object is closed and requires all of its properties,
 * and nothing is said that strict mode does not know (rule O15). A schema is never changed to make it so: what the model
 * may leave out is the tool's own matter.
 */
export function isStrict(schema: Readonly<Record<string, unknown>>): boolean {
  const count = { properties: 0 };
  return schema.type === "object" && schema.anyOf === undefined && fits(schema, 0, count);
}

function fits(schema: unknown, depth: number, count: { properties: number }): boolean {
  if (!isRecord(schema) || depth > DEEPEST) return false;
  if (!Object.keys(schema).every((keyword) => KEYWORDS.has(keyword))) return false;
  if (schema.format !== undefined && !FORMATS.has(schema.format)) return false;
  const { properties, items, anyOf, $defs } = schema;
  const below = (value: unknown) => fits(value, depth + 1, count);
  if (schema.type === "object" || properties !== undefined) {
    if (schema.additionalProperties !== false || !isRecord(properties)) return false;
    const names = Object.keys(properties);
    count.properties += names.length;
    const required = Array.isArray(schema.required) ? new Set<unknown>(schema.required) : new Set();
    if (count.properties > MOST_PROPERTIES || !names.every((name) => required.has(name))) return false;
    if (!Object.values(properties).every(below)) return false;
  }
  if (items !== undefined && !below(items)) return false;
  if (anyOf !== undefined && !(Array.isArray(anyOf) && anyOf.every(below))) return false;
  return $defs === undefined || (isRecord($defs) && Object.values($defs).every(below));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
