/** What a turn waits for when a call can't be answered without its owner. Each kind has its own answer. */
export type Asked =
  | {
      readonly kind: "question";
      readonly question: string;
      readonly options?: readonly string[];
      /** What the model is told beside the answer: whose question it was, and what to do with it. */
      readonly note?: string;
    }
  | { readonly kind: "plan"; readonly plan: string };

/** A call that waits. `id` names it to whoever answers; `call` is the tool call whose result the answer is. */
export type Pause = Asked & { readonly id: string; readonly call: string };

/** What an owner answers. `answer` is the text that the asking call gets as its result. */
export type PauseAnswer =
  | { readonly kind: "question"; readonly answer: string }
  | { readonly kind: "plan"; readonly decision: "approve" }
  | { readonly kind: "plan"; readonly decision: "deny"; readonly reason: string | null };

/** What a tool's context makes of a question; returned by the tool, it pauses the turn. */
export class Ask {
  readonly asked: Asked;
  constructor(asked: Asked) {
    this.asked = asked;
  }
}

/**
 * A pause as a surface without a form for it shows it: as text of the assistant. Histories are compared by it
 * (`context/align-history.ts`), so a change of it makes clients' copies of older pauses differ from ours.
 */
export function pauseText(asked: Asked): string {
  switch (asked.kind) {
    case "question":
      return [asked.question, ...(asked.options ?? []).map((option) => `- ${option}`)].join("\n");
    case "plan":
      return `${asked.plan}\n\nThis plan waits for approval.`;
  }
}

/** Whether two answers say the same, so that one given twice is one. */
export function sameAnswer(a: PauseAnswer, b: PauseAnswer): boolean {
  if (a.kind === "question") return b.kind === "question" && a.answer === b.answer;
  if (b.kind === "question" || a.decision !== b.decision) return false;
  return a.decision === "approve" || b.decision === "approve" || a.reason === b.reason;
}
