import type { AnswererOf } from "../common/script.ts";
import type { Part } from "./answer.ts";
import { functionsOf, textOf } from "./content.ts";
import type { RecordedRequest } from "./record.ts";
import type { Item } from "./schema/items.ts";
import type { AnyRequest } from "./schema/request.ts";

/** An output that follows the model's last item. */
export interface LastOutput {
  readonly callId: string;
  /** The name of the tool that was called; `tool_search` for a search. */
  readonly name: string;
  readonly text: string;
  /** The names of the functions that it loads. */
  readonly loaded: readonly string[];
}

/** A request as an answerer sees it. */
export interface AnswerRequest extends RecordedRequest {
  readonly body: AnyRequest;
  /** The text of the last user message. */
  readonly lastUserText: string;
  /** What tools have said since the user's last message. */
  readonly lastOutputs: readonly LastOutput[];
}

/** Plays the model: given a request, says what it answers. What it throws is a problem of the test. */
export type Answerer = AnswererOf<Part, AnswerRequest>;

/** The parts of a request that an answerer mostly looks at. */
export function answerView(items: readonly Item[]): Pick<AnswerRequest, "lastUserText" | "lastOutputs"> {
  const user = items.findLast((item) => item.type === "message" && item.role === "user");
  const lastUserText = user?.type === "message" ? textOf(user.content) : "";
  return { lastUserText, lastOutputs: lastOutputs(items) };
}

function lastOutputs(items: readonly Item[]): LastOutput[] {
  const names = new Map<string, string>();
  let outputs: LastOutput[] = [];
  for (const item of items) {
    switch (item.type) {
      case "message":
        outputs = [];
        break;
      case "function_call":
        names.set(item.call_id, item.name);
        if (outputs.length > 0) outputs = [];
        break;
      case "tool_search_call":
        names.set(item.call_id ?? "", "tool_search");
        break;
      case "function_call_output":
        outputs.push({
          callId: item.call_id,
          name: names.get(item.call_id) ?? "",
          text: textOf(item.output),
          loaded: [],
        });
        break;
      case "tool_search_output": {
        const loaded = functionsOf(item.tools).map(({ tool }) => tool.name);
        outputs.push({ callId: item.call_id ?? "", name: "tool_search", text: "", loaded });
        break;
      }
      default:
    }
  }
  return outputs;
}
