import type { CallBlock } from "../../values/entry.ts";
import { BRIDGE_TOOL } from "../../values/tool.ts";
import { memberText } from "./member-text.ts";

/** The arguments of the bridge that call a tool with this input, the JSON text of an object. */
export function bridged(name: string, input: string): string {
  return `{"name":${JSON.stringify(name)},"arguments":${input}}`;
}

/**
 * The call that a call of the bridge stands for: from here on it is one of the named tool, with its input as the model
 * wrote it. What names no tool stays a call of the bridge, which is answered by an error.
 */
export function unbridged({ name, input }: Pick<CallBlock, "name" | "input">): Pick<CallBlock, "name" | "input"> {
  if (name !== BRIDGE_TOOL) return { name, input };
  const asked = parsed(input);
  const given = asked?.arguments;
  if (typeof asked?.name !== "string" || asked.name === "") return { name, input };
  // Some models write the arguments as they would for a function: as JSON text.
  if (typeof given === "string") return { name: asked.name, input: given || "{}" };
  return { name: asked.name, input: memberText(input, "arguments") ?? "{}" };
}

function parsed(text: string): { name?: unknown; arguments?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}
