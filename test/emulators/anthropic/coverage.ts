import { z } from "zod";

/** What the emulator does not know. `docs/emulators.md` holds the same list; a test compares them. */
export const UNCOVERED = {
  fields: ["billing_policy", "fallback_credit_token", "fallbacks", "thread"],
  tools: ["browser_toolset_20260801", "computer_toolset_20260801"],
  blocks: ["browser_state", "fallback", "mcp_tool_listing"],
} as const;

const typed = z.looseObject({ type: z.string().nullish() });
const request = z.looseObject({
  tools: z.array(typed).optional(),
  messages: z.array(z.looseObject({ content: z.unknown() })).optional(),
});

/** The first thing in a request that the emulator does not know, or `null`. */
export function uncovered(body: object): string | null {
  const field = UNCOVERED.fields.find((name) => name in body);
  if (field !== undefined) return `field ${field}`;
  const parsed = request.safeParse(body);
  if (!parsed.success) return null;
  const { tools = [], messages = [] } = parsed.data;
  const tool = firstOf(UNCOVERED.tools, tools);
  if (tool !== undefined) return `tool type ${tool}`;
  const block = firstOf(
    UNCOVERED.blocks,
    messages.flatMap((message) => nested(message.content)),
  );
  return block === undefined ? null : `block type ${block}`;
}

function firstOf(types: readonly string[], values: readonly { type?: string | null | undefined }[]) {
  return types.find((type) => values.some((value) => value.type === type));
}

/** The blocks of a content and of the results in it. */
function nested(content: unknown): z.infer<typeof typed>[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((value: unknown) => {
    const parsed = typed.safeParse(value);
    return parsed.success ? [parsed.data, ...nested(parsed.data.content)] : [];
  });
}
