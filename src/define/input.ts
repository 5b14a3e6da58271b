import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { describeProblems, type JsonSchema, jsonSchemaCheck } from "./json-schema.ts";
import type { Validated } from "./types.ts";

/** A schema that can validate and that can say itself as JSON Schema: zod from 4.2 on, ArkType, Valibot's adapter. */
export interface StandardInput<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output> & StandardJSONSchemaV1.Props<Input, Output>;
}

/** What a tool's `input` may be. */
export type InputSchema = StandardInput | JsonSchema;

/** What `execute` gets: the schema's output; any object for plain JSON Schema; nothing where there is no input. */
export type InputOf<I extends InputSchema | undefined> = I extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<I>
  : I extends undefined
    ? Record<string, never>
    : Record<string, unknown>;

/** A tool's input, in the form models see and as a check. */
export interface Input {
  readonly schema: JsonSchema;
  validate(input: unknown): Promise<Validated>;
}

const NOTHING: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

/** Works out a tool's input once. Throws what the schema's own library throws when it can't say itself as JSON Schema. */
export function readInput(input: InputSchema | undefined): Input {
  if (input === undefined) return fromJsonSchema(NOTHING);
  return isStandard(input) ? fromStandard(input) : fromJsonSchema(input);
}

/** What is wrong with a schema as a tool's input, or null. */
export function schemaProblem(schema: JsonSchema): string | null {
  if (schema.type === "object") return null;
  return `its input must be a schema of type "object", not ${JSON.stringify(schema.type) ?? "one without a type"}`;
}

function fromStandard(input: StandardInput): Input {
  const standard = input["~standard"];
  if (typeof standard.jsonSchema?.input !== "function") {
    throw new Error(`its input's schema library (${standard.vendor}) can't give JSON Schema; zod can from 4.2 on`);
  }
  return {
    schema: asSent(standard.jsonSchema.input({ target: "draft-2020-12" })),
    async validate(value) {
      const result = await standard.validate(value);
      if (!result.issues) return { ok: true, value: result.value };
      const problems = result.issues.map((issue) => ({ path: issuePath(issue), message: issue.message }));
      return { ok: false, problem: describeProblems(problems) };
    },
  };
}

function fromJsonSchema(input: JsonSchema): Input {
  const schema = asSent(input);
  const check = jsonSchemaCheck(schema);
  return { schema, validate: async (value) => check(value) };
}

/** As plain JSON and without `$schema`, which models need not read. */
function asSent(schema: JsonSchema): JsonSchema {
  const { $schema: _, ...sent }: Record<string, unknown> = JSON.parse(JSON.stringify(schema));
  return sent;
}

function issuePath(issue: StandardSchemaV1.Issue): string {
  return (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".");
}

function isStandard(input: InputSchema): input is StandardInput {
  return "~standard" in input;
}
