import { call, say } from "../common/answer.ts";
import type { Answer } from "./answer.ts";
import type { Answerer, AnswerRequest } from "./answerer.ts";
import { toolName, toolsOf } from "./content.ts";

/** A model for demonstrations: it searches, calls a tool that was found, and tells the result. */
export const demoAnswerer: Answerer = (request): Answer => {
  const [result] = request.toolResultsOfLastMessage;
  const loaded = request.toolResultsOfLastMessage.flatMap(({ references }) => references);
  const [found] = loaded.filter((name) => request.visible.includes(name));
  if (found !== undefined) return [say(`I found ${found}.`), callWithSample(request, found)];
  if (result !== undefined) return say(`${result.name} said: ${result.text}`);
  if (request.visible.includes("tool_search")) return callWithSample(request, "tool_search");
  return say(`You said: ${request.lastUserText}`);
};

function callWithSample(request: AnswerRequest, name: string): Answer {
  const tool = toolsOf(request.body).find((candidate) => toolName(candidate) === name);
  const schema = tool !== undefined && "input_schema" in tool ? tool.input_schema : {};
  const input = sample(schema, request.lastUserText);
  return call(name, typeof input === "object" && input !== null ? input : {});
}

/** A value that fits a simple JSON schema: its first choice, its required properties, the given text for strings. */
function sample(schema: unknown, text: string): unknown {
  if (!isObject(schema)) return text;
  const { type, enum: choices, properties, required, items } = schema;
  if (Array.isArray(choices)) return choices[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case "array":
      return [sample(items, text)];
    case "boolean":
      return true;
    case "integer":
    case "number":
      return 1;
    case "object": {
      const names = Array.isArray(required) ? required : [];
      const inner = isObject(properties) ? properties : {};
      return Object.fromEntries(names.map((name) => [name, sample(inner[name], text)]));
    }
    default:
      return text;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
