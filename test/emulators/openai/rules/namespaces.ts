import { availability } from "../availability.ts";
import { functionsOf, toolsOf } from "../content.ts";
import { invalid } from "../failure.ts";
import type { Rule } from "./rule.ts";

/**
 * E-O13, E-O14: a call without a namespace is of a function in the default one: inline in `tools`, or loaded into it by
 * an item before the call. A call with a namespace is accepted, also of what is still deferred. On models without tool
 * search there is nothing to check.
 */
export const callsHaveTheirNamespace: Rule = ({ body, items, earlier, model, settings }) => {
  if (!model.toolSearch || earlier === null) return null;
  const inline = new Set(
    functionsOf(toolsOf(body)).flatMap(({ tool, namespace }) =>
      namespace === null && tool.defer_loading !== true ? [tool.name] : [],
    ),
  );
  const all = [...earlier, ...items];
  let index = -1;
  for (const callable of availability(body, all, model, settings.namespaces)) {
    const item = all[index];
    index += 1;
    if (item?.type !== "function_call" || item.namespace) continue;
    const { name } = item;
    if (inline.has(name) || callable.get(name)?.namespace === null) continue;
    return invalid(
      "E-O13",
      `Missing namespace for function_call '${name}'. It does not exist in the default namespace. Round-trip the model's function_call item with its namespace field included.`,
      "input",
    );
  }
  return null;
};

/** E-O17: `/compact` does not know the namespace of a call. */
export const compactKnowsNoNamespace: Rule = ({ endpoint, items }) => {
  if (endpoint !== "compact") return null;
  const index = items.findIndex((item) => item.type === "function_call" && item.namespace);
  if (index === -1) return null;
  const param = `input[${index}].namespace`;
  return invalid("E-O17", `Unknown parameter: '${param}'.`, param, "unknown_parameter");
};
