import { z } from "zod";
import { containerUpload, document, image, searchResult, text } from "./media.ts";
import { cached, caller, callId, dictionary } from "./parts.ts";
import {
  advisorResult,
  bashResult,
  codeExecutionResult,
  mcpResult,
  textEditorResult,
  toolReference,
  toolSearchResult,
  webFetchResult,
  webSearchResult,
} from "./server-results.ts";
import { toolAddition, toolRemoval } from "./tool-changes.ts";

const toolUse = z.strictObject({
  type: z.literal("tool_use"),
  id: callId,
  name: z.string().min(1),
  input: dictionary,
  caller: caller.optional(),
  ...cached,
});

const toolResult = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: callId,
  content: z
    .union([z.string(), z.array(z.discriminatedUnion("type", [text, image, document, searchResult, toolReference]))])
    .optional(),
  is_error: z.boolean().optional(),
  ...cached,
});

const serverToolUse = z.strictObject({
  type: z.literal("server_tool_use"),
  id: callId,
  name: z.enum([
    "advisor",
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
  ]),
  input: dictionary,
  caller: caller.optional(),
  ...cached,
});

const mcpToolUse = z.strictObject({
  type: z.literal("mcp_tool_use"),
  id: callId,
  name: z.string(),
  server_name: z.string(),
  input: dictionary,
  ...cached,
});

/** Thinking blocks take no `cache_control`. */
const thinking = z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() });
const redactedThinking = z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() });

const compaction = z.strictObject({
  type: z.literal("compaction"),
  content: z.string().nullish(),
  encrypted_content: z.string().nullish(),
  signature: z.string().nullish(),
  tool_changes: z.array(z.discriminatedUnion("type", [toolAddition, toolRemoval])).nullish(),
  ...cached,
});

/** One content block of a message, whatever its role. Which role may hold which block is a rule, not the schema. */
export const block = z.discriminatedUnion("type", [
  text,
  image,
  document,
  searchResult,
  containerUpload,
  thinking,
  redactedThinking,
  toolUse,
  toolResult,
  serverToolUse,
  mcpToolUse,
  toolSearchResult,
  webSearchResult,
  webFetchResult,
  codeExecutionResult,
  bashResult,
  textEditorResult,
  advisorResult,
  mcpResult,
  compaction,
  toolAddition,
  toolRemoval,
]);

export type Block = z.infer<typeof block>;
export type ToolUse = z.infer<typeof toolUse>;
export type ToolResult = z.infer<typeof toolResult>;
export type ToolChange = z.infer<typeof toolAddition> | z.infer<typeof toolRemoval>;
