import { z } from "zod";

const callers = z.array(z.enum(["direct", "programmatic"])).nullish();
const dictionary = z.record(z.string(), z.unknown());

const functionTool = z.strictObject({
  type: z.literal("function"),
  name: z.string(),
  description: z.string().nullish(),
  parameters: dictionary.nullish(),
  strict: z.boolean().nullish(),
  defer_loading: z.boolean().nullish(),
  output_schema: dictionary.nullish(),
  allowed_callers: callers,
  async: z.boolean().optional(),
});

const customTool = z.strictObject({
  type: z.literal("custom"),
  name: z.string(),
  description: z.string().nullish(),
  format: z.looseObject({ type: z.enum(["text", "grammar"]) }).nullish(),
  defer_loading: z.boolean().nullish(),
  allowed_callers: callers,
  async: z.boolean().optional(),
});

const namespaceTool = z.strictObject({
  type: z.literal("namespace"),
  name: z.string(),
  description: z.string(),
  tools: z.array(z.discriminatedUnion("type", [functionTool, customTool])),
});

const toolSearch = z.strictObject({
  type: z.literal("tool_search"),
  execution: z.enum(["server", "client"]).optional(),
  description: z.string().nullish(),
  parameters: z.unknown().optional(),
});

/** Tools that run at the provider: the emulator runs none of them, and looks only at their type. */
const hosted = z.looseObject({
  type: z.enum([
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "file_search",
    "code_interpreter",
    "image_generation",
    "mcp",
  ]),
  defer_loading: z.boolean().nullish(),
});

/** One entry of `tools`, of `additional_tools` or of a `tool_search_output`. */
export const tool = z.discriminatedUnion("type", [functionTool, customTool, namespaceTool, toolSearch, hosted]);

export type Tool = z.infer<typeof tool>;
export type FunctionTool = z.infer<typeof functionTool>;
export type NamespaceTool = z.infer<typeof namespaceTool>;
