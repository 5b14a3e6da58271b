/** An input that fits a simple JSON schema, for models of demonstrations: the given text stands for every string. */
export function sampleInput(schema: unknown, text: string): object {
  const input = sample(schema, text);
  return typeof input === "object" && input !== null ? input : {};
}

/** A value that fits a simple JSON schema: its first choice, its required properties, the given text for strings. */
function sample(schema: unknown, text: string): unknown {
  if (!isObject(schema)) return text;
  const { type, enum: choices, properties, required, items } = schema;
  if (Array.isArray(choices)) return choices[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case "array":
      return [sample(items, text)];
    case "boolean":
      return true;
    case "integer":
    case "number":
      return 1;
    case "object": {
      const names = Array.isArray(required) ? required : [];
      const inner = isObject(properties) ? properties : {};
      return Object.fromEntries(names.map((name) => [name, sample(inner[name], text)]));
    }
    default:
      return text;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
