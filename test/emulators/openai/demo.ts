import { call, say } from "../common/answer.ts";
import { sampleInput } from "../common/sample.ts";
import type { Answer } from "./answer.ts";
import type { Answerer, AnswerRequest } from "./answerer.ts";
import { clientSearch, functionsOf, itemsOf, toolsOf } from "./content.ts";

/** A model for demonstrations: it searches, calls a tool that was found, and tells the result. */
export const demoAnswerer: Answerer = (request): Answer => {
  const [found] = request.lastOutputs.flatMap(({ loaded }) => loaded).filter((name) => request.visible.includes(name));
  const result = request.lastOutputs.at(-1);
  if (found !== undefined && result?.name === "tool_search") {
    return [say(`I found ${found}.`), call(found, sampleInput(parametersOf(request, found), request.lastUserText))];
  }
  if (result !== undefined) return say(`${result.name} said: ${result.text}`);
  if (!request.visible.includes("tool_search")) return say(`You said: ${request.lastUserText}`);
  const search = clientSearch(toolsOf(request.body));
  return call("tool_search", sampleInput(search?.parameters, request.lastUserText));
};

/** The schema of a function, inline or loaded by an item. */
function parametersOf({ body }: AnswerRequest, name: string): unknown {
  const carried = itemsOf(body).flatMap((item) =>
    item.type === "tool_search_output" || item.type === "additional_tools" ? item.tools : [],
  );
  return functionsOf([...carried, ...toolsOf(body)]).find(({ tool }) => tool.name === name)?.tool.parameters;
}
