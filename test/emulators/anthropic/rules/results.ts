import { placedBlocks } from "../content.ts";
import { invalid } from "../failure.ts";
import type { Rule } from "./rule.ts";

/** E-A23: references stand alone in a result. */
export const referencesStandAlone: Rule = ({ body }) => {
  for (const { block } of placedBlocks(body.messages)) {
    if (block.type !== "tool_result" || !Array.isArray(block.content)) continue;
    const references = block.content.filter((part) => part.type === "tool_reference").length;
    if (references > 0 && references < block.content.length) {
      return invalid("E-A23", "Tool definitions/code execution functions cannot be mixed with other content");
    }
  }
  return null;
};

/** E-A24: a failed result says why, in text. */
export const failedResultsAreText: Rule = ({ body }) => {
  for (const { block, path } of placedBlocks(body.messages)) {
    if (block.type !== "tool_result" || block.is_error !== true) continue;
    const { content } = block;
    if (content === undefined || content.length === 0) {
      return invalid("E-A24", `${path}.tool_result: content cannot be empty if \`is_error\` is true`);
    }
    if (typeof content !== "string" && content.some((part) => part.type !== "text")) {
      return invalid("E-A24", `${path}.tool_result: all content must be type \`text\` if \`is_error\` is true`);
    }
  }
  return null;
};
