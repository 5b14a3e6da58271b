import { call, say } from "../common/answer.ts";
import { sampleInput } from "../common/sample.ts";
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
  return call(name, sampleInput(schema, request.lastUserText));
}
