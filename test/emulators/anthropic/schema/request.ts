import { z } from "zod";
import { block } from "./blocks.ts";
import { text } from "./media.ts";
import { cached, dictionary } from "./parts.ts";
import { tool } from "./tools.ts";

const content = z.union([z.string(), z.array(block)]);
const effort = z.enum(["low", "medium", "high", "xhigh", "max"]).nullish();

const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("user"), content }),
  z.strictObject({ role: z.literal("assistant"), content }),
  z.strictObject({
    role: z.literal("system"),
    content: content.optional(),
    clear_at: z.enum(["next_user_message", "never"]).nullish(),
    output_config: z.strictObject({ effort }).nullish(),
  }),
]);

const blockBinding = z.strictObject({ prefix_mismatch_behavior: z.enum(["error", "drop_block"]).nullish() }).nullish();
const display = z.enum(["summarized", "omitted", "updates"]).nullish();
const thinking = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("enabled"),
    budget_tokens: z.int().min(1024),
    block_binding: blockBinding,
    display,
  }),
  z.strictObject({ type: z.literal("adaptive"), block_binding: blockBinding, display }),
  z.strictObject({ type: z.literal("disabled") }),
  z.strictObject({ type: z.literal("between_tools") }),
]);

const serial = { disable_parallel_tool_use: z.boolean().optional() };
const toolChoice = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("auto"), ...serial }),
  z.strictObject({ type: z.literal("any"), ...serial }),
  z.strictObject({ type: z.literal("tool"), name: z.string(), ...serial }),
  z.strictObject({ type: z.literal("none") }),
]);

const jsonFormat = z.strictObject({ type: z.literal("json_schema"), schema: dictionary });
const mcpServer = z.strictObject({
  type: z.literal("url"),
  name: z.string(),
  url: z.string(),
  authorization_token: z.string().nullish(),
  tool_configuration: z
    .strictObject({ allowed_tools: z.array(z.string()).nullish(), enabled: z.boolean().nullish() })
    .nullish(),
});

const prompt = {
  model: z.string(),
  messages: z.array(message),
  system: z.union([z.string(), z.array(text)]).optional(),
  tools: z.array(tool).optional(),
  tool_choice: toolChoice.optional(),
  thinking: thinking.optional(),
  output_config: z
    .strictObject({
      effort,
      format: jsonFormat.nullish(),
      task_budget: z
        .strictObject({ type: z.literal("tokens"), total: z.int(), remaining: z.int().nullish() })
        .nullish(),
    })
    .optional(),
  output_format: jsonFormat.nullish(),
  mcp_servers: z.array(mcpServer).optional(),
  context_management: z.strictObject({ edits: z.array(z.looseObject({ type: z.string() })).optional() }).nullish(),
  compaction: z.strictObject({ type: z.literal("summarize"), instructions: z.string().nullish() }).nullish(),
  speed: z.enum(["standard", "fast"]).nullish(),
  ...cached,
};

/** The body of `POST /v1/messages`. Unknown fields are errors, at every depth (E-A06). */
export const messagesRequest = z.strictObject({
  ...prompt,
  max_tokens: z.int().min(0),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: z.strictObject({ user_id: z.string().nullish() }).optional(),
  service_tier: z.enum(["auto", "standard_only"]).optional(),
  inference_geo: z.string().nullish(),
  container: z
    .union([
      z.string(),
      z.strictObject({
        id: z.string().nullish(),
        skills: z
          .array(z.strictObject({ type: z.string(), skill_id: z.string(), version: z.string().optional() }))
          .nullish(),
      }),
    ])
    .nullish(),
  diagnostics: z.strictObject({ previous_message_id: z.string().nullish() }).nullish(),
});

/** The body of `POST /v1/messages/count_tokens`: the prompt without what steers the answer. */
export const countRequest = z.strictObject(prompt);

export type PromptBody = z.infer<typeof countRequest>;
export type MessagesRequest = z.infer<typeof messagesRequest>;
export type Message = PromptBody["messages"][number];

/** Either body: the prompt, with what steers the answer where it is there. */
export type AnyRequest = PromptBody & Partial<Omit<MessagesRequest, keyof PromptBody>>;
