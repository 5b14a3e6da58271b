import { sha256 } from "../../prefix/digest.ts";
import { SEARCH_TOOL } from "../../values/tool.ts";

/**
 * A companion: a search call of ours that stands beside a load point and carries its references, so that what the
 * tool said stays in its own result (design §3.4). Its id follows from the load point's, so it is the same wherever it
 * is rendered; it is no call of the session.
 */
export function companionId(loadPoint: string): string {
  return `hfl_${sha256(loadPoint).slice(0, 16)}`;
}

/** The call, as a `tool_use` block. */
export function companionCall(loadPoint: string, names: readonly string[]): string {
  return searchCall(companionId(loadPoint), names);
}

/** A `tool_use` block of the search tool that asks for these names. */
export function searchCall(id: string, names: readonly string[]): string {
  const input = JSON.stringify({ query: names.join(", ") });
  return `{"type":"tool_use","id":${JSON.stringify(id)},"name":"${SEARCH_TOOL}","input":${input}}`;
}

/** A `tool_result` block that holds nothing but references (rule A6: references stand alone). */
export function referencesResult(call: string, names: readonly string[]): string {
  const references = names.map((name) => `{"type":"tool_reference","tool_name":${JSON.stringify(name)}}`);
  return `{"type":"tool_result","tool_use_id":${JSON.stringify(call)},"content":[${references.join(",")}]}`;
}
