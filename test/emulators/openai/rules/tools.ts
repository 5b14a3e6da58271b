import { functionsOf, isDeferred, type Placed, toolsOf } from "../content.ts";
import { type Failure, invalid } from "../failure.ts";
import { tooLong } from "../schema/first-issue.ts";
import { strictProblem, wrongRootType } from "./function-schema.ts";
import type { Rule, RuleInput } from "./rule.ts";

const NAME = /^[a-zA-Z0-9_-]+$/;

/** E-O04: the functions of `tools`, and those that items of the input bring, are well formed. */
export const functionsAreWellFormed: Rule = (input) => {
  for (const placed of allFunctions(input)) {
    const failure = checkFunction(placed);
    if (failure !== null) return failure;
  }
  return null;
};

function allFunctions({ body, items }: RuleInput): Placed[] {
  const carried = items.flatMap((item, index) =>
    "tools" in item && (item.type === "tool_search_output" || item.type === "additional_tools")
      ? functionsOf(item.tools, `input[${index}].tools`)
      : [],
  );
  return [...functionsOf(toolsOf(body)), ...carried];
}

function checkFunction({ tool, path }: Placed): Failure | null {
  const { name, parameters, strict } = tool;
  if (!NAME.test(name)) return badName(`${path}.name`);
  if (parameters === undefined || parameters === null) return null;
  const refuse = (reason: string) =>
    invalid(
      "E-O04",
      `Invalid schema for function '${name}': ${reason}`,
      `${path}.parameters`,
      "invalid_function_parameters",
    );
  const root = wrongRootType(parameters);
  if (root !== null) return refuse(`schema must be a JSON Schema of 'type: "object"', got 'type: ${root}'.`);
  const problem = strict === true ? strictProblem(parameters) : null;
  if (problem === null) return null;
  const context = problem.context.map((word) => `'${word}'`).join(", ");
  // A tuple of one keeps its comma, as the vendor's Python prints it.
  return refuse(`In context=(${problem.context.length === 1 ? `${context},` : context}), ${problem.reason}`);
}

function badName(param: string): Failure {
  const pattern = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
  return invalid("E-O04", `Invalid '${param}': string does not match pattern. ${pattern}`, param, "invalid_value");
}

/** E-O04: no name stands twice in `tools`. The vendor's text is not known. */
export const toolNamesAreUnique: Rule = ({ body }) => {
  const seen = new Set<string>();
  for (const [index, tool] of toolsOf(body).entries()) {
    if (tool.type !== "function" && tool.type !== "custom" && tool.type !== "namespace") continue;
    const param = `tools[${index}].name`;
    if (!NAME.test(tool.name)) return badName(param);
    if (seen.has(tool.name)) return invalid("E-O04", `Duplicate tool name '${tool.name}'.`, param, "invalid_value");
    seen.add(tool.name);
  }
  return null;
};

/** E-O04: the number of tools, on models that limit it. */
export const notTooManyTools: Rule = ({ body, model, settings }) => {
  const limit = settings.maxTools === undefined ? model.maxTools : settings.maxTools;
  const { length } = toolsOf(body);
  if (limit === null || length <= limit) return null;
  return invalid("E-O04", tooLong("tools", limit, length), "tools", "array_above_max_length");
};

/** E-O05: what is deferred can be searched for. */
export const deferredToolsNeedSearch: Rule = ({ body }) => {
  const tools = toolsOf(body);
  if (!tools.some(isDeferred) || tools.some(({ type }) => type === "tool_search")) return null;
  const message = "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search.";
  return invalid("E-O05", message, "tools");
};

/** E-O06: a search that the client runs says what it is. The vendor's text is not known. */
export const clientSearchIsDescribed: Rule = ({ body }) => {
  for (const [index, tool] of toolsOf(body).entries()) {
    if (tool.type !== "tool_search" || tool.execution !== "client") continue;
    for (const field of ["description", "parameters"] as const) {
      const value = tool[field];
      if (value !== undefined && value !== null && value !== "") continue;
      const param = `tools[${index}].${field}`;
      return invalid("E-O06", `Missing required parameter: '${param}'.`, param, "missing_required_parameter");
    }
  }
  return null;
};

/** What `tool_choice` names is there, in `tools` or loaded by an item. */
export const toolChoiceIsThere: Rule = ({ body, items, earlier }) => {
  const { tool_choice: choice } = body;
  if (choice === undefined || typeof choice === "string" || earlier === null) return null;
  const wanted =
    choice.type === "allowed_tools" && "tools" in choice && Array.isArray(choice.tools)
      ? choice.tools.filter(({ type }) => type === "function")
      : choice.type === "function"
        ? [choice]
        : [];
  const carried = [...earlier, ...items].flatMap((item) =>
    item.type === "tool_search_output" || item.type === "additional_tools" ? item.tools : [],
  );
  const names = new Set(functionsOf([...toolsOf(body), ...carried]).map(({ tool }) => tool.name));
  const missing = wanted.find((one) => !("name" in one && typeof one.name === "string" && names.has(one.name)));
  if (missing === undefined) return null;
  const name = "name" in missing ? String(missing.name) : "";
  return invalid("E-O02", `Tool choice '${name}' not found in 'tools' parameter.`, "tool_choice");
};
