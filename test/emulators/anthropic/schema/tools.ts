import { z } from "zod";
import { cached, dictionary } from "./parts.ts";

const shared = {
  defer_loading: z.boolean().optional(),
  strict: z.boolean().nullish(),
  allowed_callers: z.array(z.string()).optional(),
  ...cached,
};
const examples = { input_examples: z.array(dictionary).optional() };

/** A tool of the application's own. */
export const customTool = z.strictObject({
  type: z.literal("custom").nullish(),
  name: z.string(),
  description: z.string().optional(),
  input_schema: z.looseObject({}),
  eager_input_streaming: z.boolean().nullish(),
  ...shared,
  ...examples,
});

const search = (kind: "bm25" | "regex") =>
  z.strictObject({
    type: z.enum([`tool_search_tool_${kind}_20251119`, `tool_search_tool_${kind}`]),
    name: z.string(),
    ...shared,
  });

const named = <T extends string>(types: readonly [T, ...T[]], name: string, more: z.ZodRawShape = {}) =>
  z.strictObject({ type: z.enum(types), name: z.literal(name), ...shared, ...examples, ...more });

const domains = {
  allowed_domains: z.array(z.string()).nullish(),
  blocked_domains: z.array(z.string()).nullish(),
  max_uses: z.int().nullish(),
  response_inclusion: z.string().nullish(),
};

const computer = {
  display_height_px: z.int(),
  display_width_px: z.int(),
  display_number: z.int().nullish(),
  enable_zoom: z.boolean().optional(),
};

/** A tool that the provider runs or whose schema it keeps. */
export const builtInTools = [
  search("bm25"),
  search("regex"),
  named(["bash_20241022", "bash_20250124"], "bash"),
  named(
    ["code_execution_20250522", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"],
    "code_execution",
  ),
  named(["memory_20250818"], "memory"),
  named(["text_editor_20241022", "text_editor_20250124"], "str_replace_editor"),
  named(["text_editor_20250429", "text_editor_20250728"], "str_replace_based_edit_tool", {
    max_characters: z.int().nullish(),
  }),
  named(["computer_20241022", "computer_20250124", "computer_20251124"], "computer", computer),
  named(["web_search_20250305", "web_search_20260209", "web_search_20260318"], "web_search", {
    ...domains,
    user_location: z.looseObject({ type: z.literal("approximate") }).nullish(),
  }),
  named(["web_fetch_20250910", "web_fetch_20260209", "web_fetch_20260309", "web_fetch_20260318"], "web_fetch", {
    ...domains,
    citations: z.strictObject({ enabled: z.boolean().optional() }).nullish(),
    max_content_tokens: z.int().nullish(),
    use_cache: z.boolean().optional(),
  }),
  named(["advisor_20260301"], "advisor", {
    model: z.string(),
    caching: cached.cache_control,
    max_tokens: z.int().nullish(),
    max_uses: z.int().nullish(),
  }),
] as const;

const mcpToolset = z.strictObject({
  type: z.literal("mcp_toolset"),
  mcp_server_name: z.string(),
  configs: z
    .record(z.string(), z.strictObject({ defer_loading: z.boolean().optional(), enabled: z.boolean().optional() }))
    .nullish(),
  default_config: z.strictObject({ defer_loading: z.boolean().optional(), enabled: z.boolean().optional() }).optional(),
  tools: z.array(dictionary).nullish(),
  ...cached,
});

/** One entry of `tools`. */
export const tool = z.discriminatedUnion("type", [customTool, mcpToolset, ...builtInTools]);

export type CustomTool = z.infer<typeof customTool>;
export type Tool = z.infer<typeof tool>;
