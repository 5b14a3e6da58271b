import { SEARCH_TOOL } from "../values/tool.ts";
import type { Catalog } from "./catalog.ts";

/** What is asked about a call before its tool runs. */
export interface GateRequest {
  readonly name: string;
  readonly catalog: Catalog;
  /** Lazy tools that may be called now. */
  readonly active: ReadonlySet<string>;
  /** Names that the request declares; one of them that the catalog lacks was withdrawn by a deploy. */
  readonly declared: ReadonlySet<string>;
  readonly allowDestructive: boolean;
}

/** Whether a call runs, and if not what its result says. The text is for the model. */
export type GateAnswer =
  | { readonly run: true }
  | { readonly run: false; readonly status: "denied" | "error"; readonly text: string };

/** Decides about one call, at every call: that a tool was declared or restored grants nothing. */
export function gate({ name, catalog, active, declared, allowDestructive }: GateRequest): GateAnswer {
  if (name === SEARCH_TOOL) return { run: true };
  const tool = catalog.byName.get(name);
  if (tool === undefined) {
    if (declared.has(name)) return refuse("error", `The tool ${name} is no longer available.`);
    return refuse("error", `There is no tool named ${name}.${hint(name, catalog)}`);
  }
  if (!catalog.allowed(name)) {
    return refuse("denied", `The tool ${name} is not allowed in the mode ${catalog.mode}.`);
  }
  if (tool.lazy && !active.has(name)) {
    return refuse("error", `The tool ${name} is not loaded. Call ${SEARCH_TOOL} first, with its name as the query.`);
  }
  if (tool.risk === "destructive" && !allowDestructive) {
    return refuse("denied", `The tool ${name} is destructive, and this agent does not allow that.`);
  }
  return { run: true };
}

function hint(name: string, catalog: Catalog): string {
  const meant = [...catalog.byName.keys()].find((known) => known.toLowerCase() === name.toLowerCase());
  if (meant !== undefined && catalog.allowed(meant)) return ` Did you mean ${meant}?`;
  return catalog.hasLazy ? ` Call ${SEARCH_TOOL} to find further tools.` : "";
}

function refuse(status: "denied" | "error", text: string): GateAnswer {
  return { run: false, status, text };
}
