import { type Failure, invalid } from "../openai/failure.ts";
import { findModel } from "../openai/models.ts";
import { strictProblem, wrongRootType } from "../openai/rules/function-schema.ts";
import type { Message } from "./messages.ts";
import type { ChatRequest } from "./request.ts";

/** What rules ask besides the request. */
export interface RuleSettings {
  /** `json`: the arguments of earlier calls are parsed, as many compatible servers do. OpenAI does not. */
  readonly callArguments: "any" | "json";
}

type Rule = (body: ChatRequest, settings: RuleSettings) => Failure | null;

/** E-C04: fields about tools stand only beside tools. */
const toolFieldsNeedTools: Rule = (body) => {
  if (body.tools !== undefined) return null;
  const field = (["tool_choice", "parallel_tool_calls"] as const).find((name) => body[name] !== undefined);
  if (field === undefined) return null;
  return invalid("E-C04", `'${field}' is only allowed when 'tools' are specified.`, field);
};

const NAME = /^[a-zA-Z0-9_-]+$/;

/** E-C05: functions are well formed, and no name stands twice (the vendor's text for that is not known). */
const functionsAreWellFormed: Rule = ({ tools = [] }) => {
  const seen = new Set<string>();
  for (const [index, { function: one }] of tools.entries()) {
    const path = `tools[${index}].function`;
    if (!NAME.test(one.name)) {
      const message = `Invalid '${path}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
      return invalid("E-C05", message, `${path}.name`, "invalid_value");
    }
    if (seen.has(one.name)) {
      return invalid("E-C05", `Duplicate tool name '${one.name}'.`, `${path}.name`, "invalid_value");
    }
    seen.add(one.name);
    const reason = one.parameters === undefined ? null : schemaReason(one.parameters, one.strict === true);
    if (reason === null) continue;
    const message = `Invalid schema for function '${one.name}': ${reason}`;
    return invalid("E-C05", message, `${path}.parameters`, "invalid_function_parameters");
  }
  return null;
};

function schemaReason(parameters: object, strict: boolean): string | null {
  const root = wrongRootType(parameters);
  if (root !== null) return `schema must be a JSON Schema of 'type: "object"', got 'type: ${root}'.`;
  const problem = strict ? strictProblem(parameters) : null;
  return problem === null ? null : `In context=(${problem.context.join(", ")}), ${problem.reason}`;
}

/** E-C06: an assistant's message says something or calls something. */
const assistantsSaySomething: Rule = ({ messages }) => {
  const index = messages.findIndex(
    (one) => one.role === "assistant" && one.content == null && one.tool_calls === undefined && one.refusal == null,
  );
  if (index === -1) return null;
  return invalid("E-C06", "Invalid value for 'content': expected a string, got null.", `messages.[${index}].content`);
};

/** E-C07, E-C08: every call is answered by the tool messages right behind it, once, and nothing else is. */
const callsAndAnswers: Rule = ({ messages }) => {
  let open = new Set<string>();
  for (const [index, one] of messages.entries()) {
    if (one.role === "tool") {
      if (open.delete(one.tool_call_id)) continue;
      const message =
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      return invalid("E-C08", message, `messages.[${index}].role`);
    }
    if (open.size > 0) return unanswered(open, index);
    const ids = callIds(one);
    open = new Set(ids);
    if (open.size < ids.length) return invalid("E-C08", "Duplicate tool call ids.", `messages.[${index}].tool_calls`);
  }
  return open.size > 0 ? unanswered(open, messages.length) : null;
};

function callIds(one: Message): string[] {
  return one.role === "assistant" ? (one.tool_calls ?? []).map(({ id }) => id) : [];
}

function unanswered(open: ReadonlySet<string>, index: number): Failure {
  const message = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
  return invalid("E-C07", message, `messages.[${index}].role`);
}

/** E-C09: servers that hand arguments to a template parse them. */
const argumentsAreJson: Rule = ({ messages }, { callArguments }) => {
  if (callArguments === "any") return null;
  for (const [index, one] of messages.entries()) {
    const calls = one.role === "assistant" ? (one.tool_calls ?? []) : [];
    const bad = calls.findIndex((call) => !isObjectText(call.function.arguments));
    if (bad === -1) continue;
    const param = `messages[${index}].tool_calls[${bad}].function.arguments`;
    return invalid("E-C09", `Invalid '${param}': expected the JSON of an object.`, param, "invalid_value");
  }
  return null;
};

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** E-C10: what OpenAI's own reasoning models do not take. Of other models nothing is known. */
const modelLimits: Rule = (body) => {
  const model = findModel(body.model);
  if (model === undefined || !model.reasoning) return null;
  if (body.max_tokens != null) {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    return invalid("E-C10", message, "max_tokens", "unsupported_parameter");
  }
  if (model.sampling || body.temperature == null || body.temperature === 1) return null;
  const message = `Unsupported value: 'temperature' does not support ${body.temperature} with this model. Only the default (1) value is supported.`;
  return invalid("E-C10", message, "temperature", "unsupported_value");
};

const rules: readonly Rule[] = [
  toolFieldsNeedTools,
  functionsAreWellFormed,
  modelLimits,
  assistantsSaySomething,
  callsAndAnswers,
  argumentsAreJson,
];

/** The first rule that a request breaks. */
export function firstFailure(body: ChatRequest, settings: RuleSettings): Failure | null {
  for (const rule of rules) {
    const failure = rule(body, settings);
    if (failure !== null) return failure;
  }
  return null;
}
