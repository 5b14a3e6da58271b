import type { Tool, ToolContext } from "../../src/define/types.ts";

/** Calls a tool as a turn does: its input is checked first. Throws what the tool throws, or the input's problem. */
export async function run(tool: Tool, input: unknown): Promise<unknown> {
  const validated = await tool.validate(input);
  if (!validated.ok) throw new Error(validated.problem);
  const context: ToolContext = Object.create(null);
  return tool.run(validated.value, context);
}
