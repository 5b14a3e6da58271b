import { z } from "zod";

/**
 * What of the API the emulator does not know. An exchange that uses any of it cannot be judged. The same list stands in
 * `docs/emulators.md`.
 */
export const UNCOVERED = {
  fields: ["access_programs", "background", "background_options", "conversation", "image", "moderation", "prompt"],
  tools: ["apply_patch", "computer", "computer_use_preview", "local_shell", "programmatic_tool_calling", "shell"],
  items: [
    "apply_patch_call",
    "apply_patch_call_output",
    "computer_call",
    "computer_call_output",
    "configuration_update",
    "local_shell_call",
    "local_shell_call_output",
    "program",
    "program_output",
    "shell_call",
    "shell_call_output",
  ],
} as const;

const typed = z.looseObject({ type: z.string().optional() });
const request = z.looseObject({
  tools: z.array(typed).nullish(),
  input: z.union([z.string(), z.array(typed)]).nullish(),
});

/** The field, tool type or item type of a request body that is not covered, or `null`. */
export function uncovered(body: Readonly<Record<string, unknown>>): string | null {
  const field = UNCOVERED.fields.find((name) => body[name] != null);
  if (field !== undefined) return `field ${field}`;
  const parsed = request.safeParse(body);
  if (!parsed.success) return null;
  const { tools, input } = parsed.data;
  const tool = UNCOVERED.tools.find((type) => tools?.some((one) => one.type === type));
  if (tool !== undefined) return `tool type ${tool}`;
  const items = Array.isArray(input) ? input : [];
  const item = UNCOVERED.items.find((type) => items.some((one) => one.type === type));
  return item === undefined ? null : `item type ${item}`;
}
