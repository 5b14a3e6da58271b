import { clientSearch, functionsOf, itemsOf, toolsOf } from "./content.ts";
import type { Landing, Model } from "./models.ts";
import type { Item } from "./schema/items.ts";
import type { AnyRequest } from "./schema/request.ts";
import type { FunctionTool } from "./schema/tools.ts";

/** A function that the model can call, and the `namespace` that its calls carry. */
export interface Callable {
  readonly name: string;
  readonly namespace: string | null;
  readonly tool: FunctionTool;
  /** An item of the input loaded it. */
  readonly loaded: boolean;
}

/** `model`: as recorded for the model; otherwise every loaded function lands there, whatever the model. */
export type NamespaceBehaviour = "model" | Landing;

/**
 * What is callable before the first item and after each, by name. Deferred functions are not, until an item loads them;
 * on models without tool search nothing is deferred. What items before a compaction loaded is not there any more behind
 * it: the strict reading, for the API's is not known.
 */
export function* availability(
  body: AnyRequest,
  items: readonly Item[],
  model: Model,
  behaviour: NamespaceBehaviour,
): Generator<ReadonlyMap<string, Callable>> {
  const callable = new Map<string, Callable>();
  const add = (tool: FunctionTool, namespace: string | null, loaded: boolean) =>
    callable.set(tool.name, { name: tool.name, namespace, tool, loaded });
  const begin = () => {
    callable.clear();
    for (const { tool, namespace } of functionsOf(toolsOf(body))) {
      if (!model.toolSearch || tool.defer_loading !== true) add(tool, namespace, false);
    }
  };
  begin();
  yield callable;
  const landing = (recorded: Landing) => (behaviour === "model" ? recorded : behaviour);
  for (const item of items) {
    if (item.type === "compaction") begin();
    if (item.type === "tool_search_output") {
      // What the server's own search found is in a namespace of its own name on every model.
      const where = item.execution === "client" ? landing(model.loads.search) : "own";
      for (const { tool, namespace } of functionsOf(item.tools)) add(tool, namespace ?? lands(tool, where), true);
    }
    if (item.type === "additional_tools") {
      const where = landing(model.loads.additional);
      for (const { tool, namespace } of functionsOf(item.tools)) {
        if (model.toolSearch && tool.defer_loading === true) continue;
        add(tool, namespace ?? lands(tool, where), true);
      }
    }
    yield callable;
  }
}

function lands(tool: FunctionTool, where: Landing): string | null {
  return where === "own" ? tool.name : null;
}

/** What the model can call when it answers: narrowed by `tool_choice`. `search` is the client's own search. */
export function callables(
  body: AnyRequest,
  items: readonly Item[],
  model: Model,
  behaviour: NamespaceBehaviour,
): { readonly functions: ReadonlyMap<string, Callable>; readonly search: boolean } {
  let all: ReadonlyMap<string, Callable> = new Map();
  for (const now of availability(body, items, model, behaviour)) all = now;
  const search = model.toolSearch && clientSearch(toolsOf(body)) !== undefined;
  const { tool_choice: choice } = body;
  if (choice === "none") return { functions: new Map(), search: false };
  if (choice === undefined || typeof choice === "string") return { functions: all, search };
  const only = (names: readonly unknown[]) => new Map([...all].filter(([name]) => names.includes(name)));
  if (choice.type === "function") return { functions: only([choice.name]), search: false };
  if (choice.type !== "allowed_tools" || !("tools" in choice) || !Array.isArray(choice.tools)) {
    return { functions: new Map(), search: false };
  }
  const names = choice.tools.map((tool) => ("name" in tool ? tool.name : undefined));
  return { functions: only(names), search: search && choice.tools.some(({ type }) => type === "tool_search") };
}

/** The names of what the model can call, the client's search included. */
export function visibleTools(body: AnyRequest, items: readonly Item[], model: Model, behaviour: NamespaceBehaviour) {
  const { functions, search } = callables(body, items, model, behaviour);
  return [...(search ? ["tool_search"] : []), ...functions.keys()];
}

/** The names of functions that items of the input have loaded. */
export function loadedNames(body: AnyRequest, model: Model): ReadonlySet<string> {
  let all: ReadonlyMap<string, Callable> = new Map();
  for (const now of availability(body, itemsOf(body), model, "model")) all = now;
  return new Set([...all.values()].filter(({ loaded }) => loaded).map(({ name }) => name));
}
