import { BRIDGE_TOOL, SEARCH_TOOL } from "../../values/tool.ts";
import type { Definition } from "../contract.ts";

/** How an epoch speaks of tools. It follows from the epoch's frozen inline tools, so a deploy changes none that runs. */
export interface Form {
  /** What joined later is described in a search's result, and called through {@link BRIDGE_TOOL}. */
  readonly bridge: boolean;
  readonly inline: ReadonlySet<string>;
}

export function formOf(tools: readonly Definition[]): Form {
  const search = tools.find(({ name }) => name === SEARCH_TOOL);
  return {
    bridge: search?.bytes.includes(BRIDGE) ?? false,
    inline: new Set(tools.map(({ name }) => name)),
  };
}

/** The name under which a tool is called on the wire. */
export function wireName({ bridge, inline }: Form, name: string): string {
  return bridge && !inline.has(name) ? BRIDGE_TOOL : name;
}

/** The bridge's own definition, which goes wherever the search tool's goes: neither is of use without the other. */
export const BRIDGE: string = JSON.stringify({
  type: "function",
  function: {
    name: BRIDGE_TOOL,
    description:
      `Calls a tool that ${SEARCH_TOOL} has loaded. Give its name, and arguments that fit the schema which ` +
      `${SEARCH_TOOL} showed for it.`,
    parameters: {
      type: "object",
      properties: {
        name: { type: "string", description: "The tool's name." },
        arguments: { type: "object", description: "The tool's arguments.", additionalProperties: true },
      },
      required: ["name", "arguments"],
      additionalProperties: false,
    },
  },
});
