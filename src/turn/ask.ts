import type { Question } from "../define/types.ts";
import { Ask } from "../values/pause.ts";

/** What a tool's `ask` answers. Throws where there is nothing to answer: the tool then fails, and the model reads why. */
export function ask(given: string | Question): Ask {
  const { question, options = [] } = typeof given === "string" ? { question: given } : given;
  if (typeof question !== "string" || question.trim() === "") throw new TypeError("ask needs a question");
  if (!Array.isArray(options) || options.some((option) => typeof option !== "string")) {
    throw new TypeError("the options of a question are texts");
  }
  return new Ask({ kind: "question", question, ...(options.length > 0 ? { options } : {}) });
}
