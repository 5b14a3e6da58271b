import { SEARCH_TOOL } from "../../values/tool.ts";
import { companionId, searchInput } from "../load-points.ts";
import { wireId } from "../wire-id.ts";

/** The call, as a `tool_use` block. */
export function companionCall(loadPoint: string, names: readonly string[]): string {
  return searchCall(companionId(loadPoint), names);
}

/** A `tool_use` block of the search tool that asks for these names. */
export function searchCall(id: string, names: readonly string[]): string {
  return `{"type":"tool_use","id":${callId(id)},"name":"${SEARCH_TOOL}","input":${searchInput(names)}}`;
}

/** A `tool_result` block that holds nothing but references (rule A6: references stand alone). */
export function referencesResult(call: string, names: readonly string[]): string {
  const references = names.map((name) => `{"type":"tool_reference","tool_name":${JSON.stringify(name)}}`);
  return `{"type":"tool_result","tool_use_id":${callId(call)},"content":[${references.join(",")}]}`;
}

/** The id of a call on this wire, as JSON text: letters, digits, `_` and `-`. */
export function callId(id: string): string {
  return JSON.stringify(wireId(id, /^[a-zA-Z0-9_-]+$/));
}
