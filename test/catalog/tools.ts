import { type CatalogMode, type CatalogTool, toolCatalog } from "../../src/catalog/catalog.ts";

/** A tool as the catalog sees it, for tests. */
export function tool(
  name: string,
  given: { description?: string; parameters?: readonly string[]; lazy?: boolean; risk?: CatalogTool["risk"] } = {},
): CatalogTool {
  const { description = `Does ${name}.`, parameters = [], lazy = true, risk = "read" } = given;
  const properties = Object.fromEntries(parameters.map((parameter) => [parameter, { type: "string" }]));
  return { spec: { name, description, inputSchema: { type: "object", properties } }, lazy, risk };
}

export const core = (name: string) => tool(name, { lazy: false });

/** The catalog of these tools in a mode. */
export function catalogOf(tools: readonly CatalogTool[], modes: Record<string, CatalogMode> = {}, mode = "agent") {
  return toolCatalog({ tools, modes }, mode);
}
