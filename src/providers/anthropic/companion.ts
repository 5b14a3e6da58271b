import { SEARCH_TOOL } from "../../values/tool.ts";
import { companionId, searchInput } from "../load-points.ts";

/** The call, as a `tool_use` block. */
export function companionCall(loadPoint: string, names: readonly string[]): string {
  return searchCall(companionId(loadPoint), names);
}

/** A `tool_use` block of the search tool that asks for these names. */
export function searchCall(id: string, names: readonly string[]): string {
  return `{"type":"tool_use","id":${JSON.stringify(id)},"name":"${SEARCH_TOOL}","input":${searchInput(names)}}`;
}

/** A `tool_result` block that holds nothing but references (rule A6: references stand alone). */
export function referencesResult(call: string, names: readonly string[]): string {
  const references = names.map((name) => `{"type":"tool_reference","tool_name":${JSON.stringify(name)}}`);
  return `{"type":"tool_result","tool_use_id":${JSON.stringify(call)},"content":[${references.join(",")}]}`;
}
