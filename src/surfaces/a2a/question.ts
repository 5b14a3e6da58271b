import type { Message } from "@a2a-js/sdk";
import { type Pause, type PauseAnswer, pauseText } from "../../values/pause.ts";
import { malformed } from "./errors.ts";
import { agentMessage, dataPart, textPart } from "./parts.ts";

/** What a task waits for, as a message of the agent: each question as text, and as data for callers that read that. */
export function questionMessage(contextId: string, taskId: string, pauses: readonly Pause[]): Message {
  return agentMessage(contextId, taskId, pauses.map(({ id }) => id).join("."), questionParts(pauses));
}

export function questionParts(pauses: readonly Pause[]): Message["parts"] {
  return pauses.flatMap((pause) => [textPart(pauseText(pause)), dataPart(questionData(pause))]);
}

function questionData(pause: Pause) {
  const { id: pauseId, kind } = pause;
  switch (pause.kind) {
    case "question":
      return { pauseId, kind, question: pause.question, options: pause.options ?? [] };
    case "plan":
      return { pauseId, kind, plan: pause.plan, options: ["approve", "deny"] };
  }
}

/** An answer, and the pause that it is for. */
export interface Answer {
  readonly pause: string;
  readonly answer: PauseAnswer;
}

/**
 * The answers in a message to a task that waits: a data part answers the pause that it names (`{ pauseId, answer }` or
 * `{ pauseId, decision, reason? }`), text answers the first one that is open. Throws -32602 for an answer that fits none.
 */
export function readAnswers(message: Message, open: readonly Pause[]): Answer[] {
  const named = message.parts.flatMap(({ content }) => {
    const value: unknown = content?.$case === "data" ? content.value : null;
    return isAnswer(value) ? [readData(value, open)] : [];
  });
  if (named.length > 0) return named;
  const text = message.parts.flatMap(({ content }) => (content?.$case === "text" ? [content.value] : [])).join("\n");
  const [first] = open;
  if (first === undefined || text.trim() === "")
    throw malformed("message.parts", "the task waits for an answer as text");
  return [{ pause: first.id, answer: textAnswer(first, text.trim()) }];
}

interface AnswerData {
  readonly pauseId: string;
  readonly answer?: unknown;
  readonly decision?: unknown;
  readonly reason?: unknown;
}

function isAnswer(value: unknown): value is AnswerData {
  return typeof value === "object" && value !== null && "pauseId" in value && typeof value.pauseId === "string";
}

function readData({ pauseId, answer, decision, reason }: AnswerData, open: readonly Pause[]): Answer {
  const pause = open.find(({ id }) => id === pauseId);
  if (pause === undefined) throw malformed("pauseId", "is none that the task waits for");
  switch (pause.kind) {
    case "question":
      if (typeof answer !== "string") throw malformed("answer", "is a text");
      return { pause: pauseId, answer: { kind: "question", answer } };
    case "plan":
      if (decision === "approve") return { pause: pauseId, answer: { kind: "plan", decision } };
      if (decision !== "deny") throw malformed("decision", 'is "approve" or "deny"');
      return { pause: pauseId, answer: { kind: "plan", decision, reason: typeof reason === "string" ? reason : null } };
  }
}

const YES = /^(?:y|yes|ok|okay|approved?|confirm(?:ed)?|go ahead|proceed)[.!]*$/i;
const NO = /^(?:n|no|den(?:y|ied)|reject(?:ed)?|stop|cancel)[.!]*$/i;

/** What a text says about a pause. A plan is approved by a plain yes alone; any other text is why it is not. */
function textAnswer(pause: Pause, text: string): PauseAnswer {
  switch (pause.kind) {
    case "question":
      return { kind: "question", answer: text };
    case "plan":
      if (YES.test(text)) return { kind: "plan", decision: "approve" };
      return { kind: "plan", decision: "deny", reason: NO.test(text) ? null : text };
  }
}
