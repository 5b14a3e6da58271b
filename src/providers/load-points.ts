import { loadedLine } from "../catalog/search.ts";
import { sha256 } from "../prefix/digest.ts";
import type { ToolResult } from "../values/entry.ts";
import { SEARCH_TOOL } from "../values/tool.ts";
import type { RenderInput } from "./contract.ts";

/** Tools that have their load point at this call and are declared, in declared order. */
export function loadedAt(input: RenderInput, call: string): string[] {
  if (!input.deferral) return [];
  return [...input.deferrals.loadPoints]
    .filter(([name, loadPoint]) => loadPoint === call && input.declared.has(name))
    .map(([name]) => name);
}

/** A search that said nothing but the fixed line, and whose every name has its load point right here. */
export function saysOnlyWhatItLoaded(input: RenderInput, result: ToolResult): boolean {
  if (result.name !== SEARCH_TOOL || result.status !== "ok" || result.details === undefined) return false;
  const names = result.details.addedToolNames;
  const [only, ...more] = result.content;
  if (more.length > 0 || only?.type !== "text" || only.text !== loadedLine(names)) return false;
  return names.every((name) => input.deferrals.loadPoints.get(name) === result.call);
}

/**
 * The id of a companion: a search call of ours that stands beside a load point and carries its definitions, so that what
 * the tool said stays in its own result (design §3.4). It follows from the load point's, so it is the same wherever it is
 * rendered; it is no call of the session.
 */
export function companionId(loadPoint: string): string {
  return `hfl_${sha256(loadPoint).slice(0, 16)}`;
}

/** The input of a search that asks for these names, as JSON text: of companions and of host searches. */
export function searchInput(names: readonly string[]): string {
  return JSON.stringify({ query: names.join(", ") });
}

/** A call's input as a JSON object. Text that is none can't be sent to every API; the result says what was wrong. */
export function objectInput(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? text : "{}";
  } catch {
    return "{}";
  }
}
