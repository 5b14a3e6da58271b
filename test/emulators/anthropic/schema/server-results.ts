import { z } from "zod";
import { text } from "./media.ts";
import { cached, callId } from "./parts.ts";

const answers = { tool_use_id: callId, ...cached };
const failure = z.strictObject({
  type: z.string().endsWith("_error"),
  error_code: z.string(),
  error_message: z.string().nullish(),
});
const output = z.array(z.strictObject({ type: z.string(), file_id: z.string() }));

/** A reference to a declared tool, as a search result names it. */
export const toolReference = z.strictObject({ type: z.literal("tool_reference"), tool_name: z.string(), ...cached });

export const toolSearchResult = z.strictObject({
  type: z.literal("tool_search_tool_result"),
  content: z.union([
    z.strictObject({ type: z.literal("tool_search_tool_search_result"), tool_references: z.array(toolReference) }),
    failure,
  ]),
  ...answers,
});

export const webSearchResult = z.strictObject({
  type: z.literal("web_search_tool_result"),
  content: z.union([
    z.array(
      z.strictObject({
        type: z.literal("web_search_result"),
        url: z.string(),
        title: z.string(),
        encrypted_content: z.string(),
        page_age: z.string().nullish(),
      }),
    ),
    failure,
  ]),
  caller: z.looseObject({ type: z.string() }).nullish(),
  ...answers,
});

export const webFetchResult = z.strictObject({
  type: z.literal("web_fetch_tool_result"),
  content: z.union([
    z.strictObject({
      type: z.literal("web_fetch_result"),
      url: z.string(),
      retrieved_at: z.string().nullish(),
      content: z.looseObject({ type: z.literal("document") }),
    }),
    failure,
  ]),
  caller: z.looseObject({ type: z.string() }).nullish(),
  ...answers,
});

const ran = { stdout: z.string(), stderr: z.string(), return_code: z.int(), content: output };

export const codeExecutionResult = z.strictObject({
  type: z.literal("code_execution_tool_result"),
  content: z.union([
    z.strictObject({ type: z.literal("code_execution_result"), ...ran }),
    z.strictObject({
      type: z.literal("encrypted_code_execution_result"),
      encrypted_stdout: z.string(),
      stderr: z.string(),
      return_code: z.int(),
      content: output,
    }),
    failure,
  ]),
  ...answers,
});

export const bashResult = z.strictObject({
  type: z.literal("bash_code_execution_tool_result"),
  content: z.union([z.strictObject({ type: z.literal("bash_code_execution_result"), ...ran }), failure]),
  ...answers,
});

export const textEditorResult = z.strictObject({
  type: z.literal("text_editor_code_execution_tool_result"),
  content: z.looseObject({ type: z.string().startsWith("text_editor_code_execution_") }),
  ...answers,
});

export const advisorResult = z.strictObject({
  type: z.literal("advisor_tool_result"),
  content: z.union([
    z.strictObject({ type: z.literal("advisor_result"), text: z.string(), stop_reason: z.string().nullish() }),
    z.strictObject({
      type: z.literal("advisor_redacted_result"),
      encrypted_content: z.string(),
      stop_reason: z.string().nullish(),
    }),
    failure,
  ]),
  ...answers,
});

export const mcpResult = z.strictObject({
  type: z.literal("mcp_tool_result"),
  content: z.union([z.string(), z.array(text)]).optional(),
  is_error: z.boolean().optional(),
  ...answers,
});
