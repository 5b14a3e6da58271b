import { call, say } from "../common/answer.ts";
import { sampleInput } from "../common/sample.ts";
import type { Answer } from "./answer.ts";
import type { Answerer, AnswerRequest } from "./record.ts";

/** A model for demonstrations: it searches, calls a tool that the search names, and tells the result. */
export const demoAnswerer: Answerer = (request): Answer => {
  const result = request.lastOutputs.at(-1);
  if (result?.name === "tool_search") {
    const found = request.visible.find((name) => name !== "tool_search" && result.text.includes(name));
    if (found !== undefined) return [say(`I found ${found}.`), callWithSample(request, found)];
  }
  if (result !== undefined) return say(`${result.name} said: ${result.text}`);
  if (request.visible.includes("tool_search")) return callWithSample(request, "tool_search");
  return say(`You said: ${request.lastUserText}`);
};

function callWithSample({ body, lastUserText }: AnswerRequest, name: string): Answer {
  const tool = body.tools?.find((candidate) => candidate.function.name === name);
  return call(name, sampleInput(tool?.function.parameters, lastUserText));
}
