import type { AnswererOf } from "../common/script.ts";
import type { Part } from "./answer.ts";
import { blocksOf } from "./content.ts";
import type { RecordedRequest } from "./record.ts";
import { referencedNames } from "./rules/references.ts";
import type { AnyRequest } from "./schema/request.ts";

/** A result that the last user message brings. */
export interface LastToolResult {
  readonly toolUseId: string;
  /** The name of the tool that was called. */
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
  /** The names it refers to. */
  readonly references: readonly string[];
}

/** A request as an answerer sees it. */
export interface AnswerRequest extends RecordedRequest {
  readonly body: AnyRequest;
  /** The text of the last user message, without tool results; of an earlier one if the last has none. */
  readonly lastUserText: string;
  readonly toolResultsOfLastMessage: readonly LastToolResult[];
}

/** Plays the model: given a request, says what it answers. What it throws is a problem of the test. */
export type Answerer = AnswererOf<Part, AnswerRequest>;

/** The parts of a request that an answerer mostly looks at. */
export function answerView(body: AnyRequest): Pick<AnswerRequest, "lastUserText" | "toolResultsOfLastMessage"> {
  return { lastUserText: lastUserText(body), toolResultsOfLastMessage: lastToolResults(body) };
}

function lastUserText({ messages }: AnyRequest): string {
  for (const message of messages.toReversed()) {
    if (message.role !== "user") continue;
    const text = blocksOf(message)
      .flatMap((block) => (block.type === "text" ? [block.text] : []))
      .join("\n");
    if (text !== "") return text;
  }
  return "";
}

function lastToolResults({ messages }: AnyRequest): LastToolResult[] {
  const last = messages.findLast((message) => message.role !== "system");
  if (last?.role !== "user") return [];
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const block of blocksOf(message)) if (block.type === "tool_use") names.set(block.id, block.name);
  }
  return blocksOf(last).flatMap((block) => {
    if (block.type !== "tool_result") return [];
    const { content = "" } = block;
    const parts =
      typeof content === "string" ? [content] : content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    return {
      toolUseId: block.tool_use_id,
      name: names.get(block.tool_use_id) ?? "",
      text: parts.join("\n"),
      isError: block.is_error === true,
      references: referencedNames(block),
    };
  });
}
