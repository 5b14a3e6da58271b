import { z } from "zod";
import { item } from "./items.ts";
import { tool } from "./tools.ts";

const toolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("function"), name: z.string() }),
    z.strictObject({ type: z.literal("custom"), name: z.string() }),
    z.strictObject({
      type: z.literal("allowed_tools"),
      mode: z.enum(["auto", "required"]),
      tools: z.array(z.looseObject({ type: z.string() })),
    }),
    z.looseObject({
      type: z.enum(["mcp", "file_search", "web_search_preview", "code_interpreter", "image_generation"]),
    }),
  ]),
]);

const effort = z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]);
const summary = z.enum(["auto", "concise", "detailed"]);

const reasoning = z.strictObject({
  effort: effort.nullish(),
  summary: summary.nullish(),
  generate_summary: summary.nullish(),
  context: z.enum(["auto", "current_turn", "all_turns"]).nullish(),
  mode: z.string().optional(),
});

const text = z.strictObject({
  format: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text") }),
      z.strictObject({ type: z.literal("json_object") }),
      z.strictObject({
        type: z.literal("json_schema"),
        name: z.string(),
        schema: z.record(z.string(), z.unknown()),
        description: z.string().optional(),
        strict: z.boolean().nullish(),
      }),
    ])
    .optional(),
  verbosity: z.enum(["low", "medium", "high"]).nullish(),
});

const cacheOptions = z.strictObject({
  comparison_response_id: z.string().nullish(),
  mode: z.enum(["implicit", "explicit"]).optional(),
  prewarm: z.boolean().optional(),
  ttl: z.enum(["30m", "12h"]).optional(),
});

const input = z.union([z.string(), z.array(item)]);

/** What makes up the prompt, and its place in the cache. */
const prompt = {
  model: z.string(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  prompt_cache_key: z.string().max(64).nullish(),
  prompt_cache_options: cacheOptions.nullish(),
  prompt_cache_retention: z.enum(["in_memory", "24h"]).nullish(),
};

const sampled = {
  tools: z.array(tool).optional(),
  tool_choice: toolChoice.optional(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: reasoning.nullish(),
  text: text.optional(),
  truncation: z.enum(["auto", "disabled"]).nullish(),
  conversation: z.union([z.string(), z.strictObject({ id: z.string() })]).nullish(),
};

/** The body of `POST /v1/responses`. Unknown fields are errors, at every depth (E-O02). */
export const responsesRequest = z.strictObject({
  ...prompt,
  ...sampled,
  input,
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
  include: z
    .array(
      z.enum([
        "file_search_call.results",
        "web_search_call.results",
        "web_search_call.action.sources",
        "message.input_image.image_url",
        "computer_call_output.output.image_url",
        "code_interpreter_call.outputs",
        "reasoning.encrypted_content",
        "message.output_text.logprobs",
      ]),
    )
    .nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  max_tool_calls: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  safety_identifier: z.string().max(64).nullish(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]).nullish(),
  user: z.string().optional(),
  context_management: z
    .array(z.strictObject({ type: z.literal("compaction"), compact_threshold: z.int().min(1000).nullish() }))
    .nullish(),
});

/** The body of `POST /v1/responses/compact`. */
export const compactRequest = z.strictObject({
  ...prompt,
  input: input.nullish(),
  service_tier: z.enum(["auto", "default", "fast", "flex", "priority"]).nullish(),
});

/** The body of `POST /v1/responses/input_tokens`. */
export const countRequest = z.strictObject({ ...prompt, ...sampled, input: input.nullish() });

export type ResponsesRequest = z.infer<typeof responsesRequest>;

/** Any of the bodies: the prompt, with what steers the answer where it is there. */
export type AnyRequest = Pick<ResponsesRequest, "model"> &
  Partial<Omit<ResponsesRequest, "input">> & {
    readonly input?: ResponsesRequest["input"] | null | undefined;
  };

/** The body with the `type` that messages and references may leave out. */
export function withTypes(json: unknown): unknown {
  if (typeof json !== "object" || json === null || !("input" in json) || !Array.isArray(json.input)) return json;
  return { ...json, input: json.input.map(withType) };
}

function withType(value: unknown): unknown {
  if (typeof value !== "object" || value === null || "type" in value) return value;
  return { type: "role" in value || !("id" in value) ? "message" : "item_reference", ...value };
}
