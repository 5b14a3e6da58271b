import { z } from "zod";
import { message } from "./messages.ts";

const dictionary = z.record(z.string(), z.unknown());

const functionTool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: z.string().max(64),
    description: z.string().optional(),
    parameters: dictionary.optional(),
    strict: z.boolean().nullish(),
  }),
});

const named = z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: z.string() }) });

const toolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.discriminatedUnion("type", [
    named,
    z.strictObject({
      type: z.literal("allowed_tools"),
      allowed_tools: z.strictObject({ mode: z.enum(["auto", "required"]), tools: z.array(named) }),
    }),
  ]),
]);

const responseFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    json_schema: z.strictObject({
      name: z.string(),
      description: z.string().optional(),
      schema: dictionary.optional(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

/** The body of `POST /v1/chat/completions`. Unknown fields are errors, at every depth. */
export const chatRequest = z.strictObject({
  model: z.string(),
  messages: z.array(message).min(1),
  tools: z.array(functionTool).min(1).max(128).optional(),
  tool_choice: toolChoice.optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  response_format: responseFormat.optional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullish(),
  verbosity: z.enum(["low", "medium", "high"]).nullish(),
  seed: z.int().nullish(),
  user: z.string().optional(),
  store: z.boolean().nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority"]).nullish(),
  prompt_cache_key: z.string().max(64).optional(),
  prompt_cache_retention: z.enum(["in_memory", "24h"]).nullish(),
  safety_identifier: z.string().max(64).optional(),
});

export type ChatRequest = z.infer<typeof chatRequest>;
