import { type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { TurnEvent } from "../../values/turn-event.ts";
import { agentMessage, artifact, textPart } from "./parts.ts";
import { questionParts } from "./question.ts";

/**
 * What the followers of a task are told of its turn, event by event. Text goes into an artifact, each piece once: its
 * first piece replaces what a follower may have of it (`append: false`), further ones add to it. Behind a pause another
 * artifact begins. How the turn ends is not told here: that is the stored task's to say.
 */
export class TaskStream {
  readonly #task: Pick<Task, "id" | "contextId">;
  /** The artifact that the text goes into. */
  #index: number;
  /** What was said in it so far, by step. */
  #texts: { readonly step: number; text: string }[] = [];

  /** `answers`: how many artifacts of it the follower has already. */
  constructor(task: Pick<Task, "id" | "contextId">, answers: number) {
    this.#task = task;
    this.#index = answers;
  }

  take(event: TurnEvent): StreamResponse[] {
    switch (event.type) {
      case "text":
        return event.text === "" ? [] : [this.#text(event.step, event.text)];
      case "progress":
        return event.text.trim() === "" ? [] : [this.#working(event.n, event.text)];
      case "pause": {
        const parts = questionParts([event.pause]);
        const said = this.#texts.length > 0 || this.#index > 0;
        if (this.#texts.length > 0) this.#index += 1;
        this.#texts = [];
        return said ? [this.#artifact("question", parts, false)] : [];
      }
      case "withdrawn":
        return this.#withdraw(event.step);
      case "started":
      case "request":
      case "answering":
      case "thinking":
      case "call":
      case "result":
      case "done":
      case "failed":
        return [];
    }
  }

  #text(step: number, text: string): StreamResponse {
    const open = this.#texts.at(-1);
    const apart = open !== undefined && open.step !== step ? "\n\n" : "";
    if (open?.step === step) open.text += text;
    else this.#texts.push({ step, text });
    return this.#artifact(this.#index, [textPart(apart + text)], open !== undefined);
  }

  /** What was said from that step on is void: what is left of it replaces what followers have. */
  #withdraw(step: number): StreamResponse[] {
    const left = this.#texts.filter((text) => text.step < step);
    if (left.length === this.#texts.length) return [];
    this.#texts = left;
    return [this.#artifact(this.#index, [textPart(left.map(({ text }) => text).join("\n\n"))], false)];
  }

  #artifact(which: number | "question", parts: ReturnType<typeof textPart>[], append: boolean): StreamResponse {
    const { id: taskId, contextId } = this.#task;
    const value = { taskId, contextId, artifact: artifact(taskId, which, parts), append };
    return { payload: { $case: "artifactUpdate", value: { ...value, lastChunk: false, metadata: undefined } } };
  }

  #working(n: number, text: string): StreamResponse {
    const { id: taskId, contextId } = this.#task;
    const message = agentMessage(contextId, taskId, `${taskId}-${n}`, [textPart(text)]);
    const status = { state: TaskState.TASK_STATE_WORKING, message, timestamp: undefined };
    return { payload: { $case: "statusUpdate", value: { taskId, contextId, status, metadata: undefined } } };
  }
}
