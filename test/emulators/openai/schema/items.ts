import { z } from "zod";
import { inputPart, outputPart } from "./content.ts";
import { tool } from "./tools.ts";

const status = z.enum(["in_progress", "completed", "incomplete"]).nullish();
const id = z.string().nullish();
const phase = z.enum(["commentary", "final_answer"]).nullish();
const execution = z.enum(["server", "client"]).optional();
const caller = z.looseObject({ type: z.enum(["direct", "program"]) }).nullish();

const inputMessage = {
  type: z.literal("message"),
  content: z.union([z.string(), z.array(inputPart)]),
  id,
  status,
};

/** A message; `type` may be left out of it, and is filled in before it is parsed. */
const message = z.discriminatedUnion("role", [
  z.strictObject({ ...inputMessage, role: z.literal("user") }),
  z.strictObject({ ...inputMessage, role: z.literal("system") }),
  z.strictObject({ ...inputMessage, role: z.literal("developer") }),
  z.strictObject({
    ...inputMessage,
    role: z.literal("assistant"),
    content: z.union([z.string(), z.array(outputPart)]),
    phase,
  }),
]);

const functionCall = z.strictObject({
  type: z.literal("function_call"),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  namespace: z.string().nullish(),
  id,
  status,
  caller,
  async: z.boolean().optional(),
});

const functionCallOutput = z.strictObject({
  type: z.literal("function_call_output"),
  call_id: z.string(),
  output: z.union([z.string(), z.array(inputPart)]),
  id,
  status,
  caller,
  name: z.string().nullish(),
  namespace: z.string().nullish(),
});

const customCall = z.strictObject({
  type: z.literal("custom_tool_call"),
  call_id: z.string(),
  name: z.string(),
  input: z.string(),
  namespace: z.string().nullish(),
  id,
  status,
  caller,
});

const customCallOutput = z.strictObject({
  type: z.literal("custom_tool_call_output"),
  call_id: z.string(),
  output: z.union([z.string(), z.array(inputPart)]),
  id,
  status,
  caller,
});

const toolSearchCall = z.strictObject({
  type: z.literal("tool_search_call"),
  arguments: z.unknown(),
  call_id: z.string().nullish(),
  execution,
  id,
  status,
});

const toolSearchOutput = z.strictObject({
  type: z.literal("tool_search_output"),
  tools: z.array(tool),
  call_id: z.string().nullish(),
  execution,
  id,
  status,
});

const additionalTools = z.strictObject({
  type: z.literal("additional_tools"),
  role: z.literal("developer"),
  tools: z.array(tool),
  id,
});

const reasoning = z.strictObject({
  type: z.literal("reasoning"),
  id: z.string().optional(),
  summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
  content: z.array(z.strictObject({ type: z.literal("reasoning_text"), text: z.string() })).nullish(),
  encrypted_content: z.string().nullish(),
  status,
});

const compaction = z.strictObject({
  type: z.literal("compaction"),
  encrypted_content: z.string(),
  id,
});

const compactionTrigger = z.strictObject({ type: z.literal("compaction_trigger"), id });
const itemReference = z.strictObject({ type: z.literal("item_reference"), id: z.string() });

/** What the provider's own tools did: the emulator looks only at the type and the id. */
const hosted = z.looseObject({
  type: z.enum([
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_list_tools",
    "mcp_call",
    "mcp_approval_request",
    "mcp_approval_response",
  ]),
  id,
});

/** One item of `input`. */
export const item = z.discriminatedUnion("type", [
  message,
  functionCall,
  functionCallOutput,
  customCall,
  customCallOutput,
  toolSearchCall,
  toolSearchOutput,
  additionalTools,
  reasoning,
  compaction,
  compactionTrigger,
  itemReference,
  hosted,
]);

export type Item = z.infer<typeof item>;
