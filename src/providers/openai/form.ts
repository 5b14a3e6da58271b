import { SEARCH_TOOL } from "../../values/tool.ts";
import type { Definition, RenderInput } from "../contract.ts";

/** How an epoch speaks of tools. It follows from the epoch's frozen inline tools, so a deploy changes none that runs. */
export interface Form {
  /**
   * The search tool is declared as one that the client executes, and tools join the conversation as the output of such a
   * search; otherwise it is a function like any other, and they join as `additional_tools`.
   */
  readonly search: boolean;
  /** Names of the inline functions: the API's default namespace. */
  readonly inline: ReadonlySet<string>;
}

export function formOf({ tools }: Pick<RenderInput, "tools">): Form {
  const functions = tools.filter((tool) => !isSearch(tool));
  return { search: functions.length < tools.length, inline: new Set(functions.map(({ name }) => name)) };
}

/** Whether this definition is the client-executed search, and not a function of that name. */
export function isSearch({ name, bytes }: Definition): boolean {
  return name === SEARCH_TOOL && bytes.startsWith('{"type":"tool_search"');
}
