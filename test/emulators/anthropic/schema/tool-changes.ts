import { z } from "zod";
import { cached } from "./parts.ts";
import { tool } from "./tools.ts";

const byName = z.strictObject({ type: z.literal("tool_reference"), name: z.string() });
const mcpTool = z.strictObject({ type: z.literal("mcp_tool_reference"), server_name: z.string(), name: z.string() });
const mcpToolset = z.strictObject({ type: z.literal("mcp_toolset_reference"), server_name: z.string() });
const byValue = z.strictObject({ type: z.literal("tool_definition"), definition: tool });

/** Makes a tool available from here on. */
export const toolAddition = z.strictObject({
  type: z.literal("tool_addition"),
  tool: z.discriminatedUnion("type", [byName, mcpTool, mcpToolset, byValue]),
  ...cached,
});

/** Takes a tool away from here on. */
export const toolRemoval = z.strictObject({
  type: z.literal("tool_removal"),
  tool: z.discriminatedUnion("type", [byName, mcpTool, mcpToolset]),
  ...cached,
});
