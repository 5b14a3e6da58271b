import { type Artifact, Message, type Task, TaskState, type TaskStatus } from "@a2a-js/sdk";
import { type TaskRecord, waitsFor } from "../../values/task.ts";
import { agentMessage, artifact, dataPart, textPart } from "./parts.ts";
import { questionMessage, questionParts } from "./question.ts";
import { taskId } from "./task-id.ts";

/** How much of a task is shown. */
export interface Shown {
  /** So many of the newest messages; null for all. */
  readonly historyLength: number | null;
  readonly artifacts: boolean;
}

/** A task as the protocol has it: the messages are its history, what the agent answered are its artifacts. */
export function taskView(contextId: string, record: TaskRecord, { historyLength, artifacts }: Shown): Task {
  const id = taskId({ contextId, turn: record.turn });
  const history = historyOf(contextId, id, record);
  return {
    id,
    contextId,
    status: statusView(contextId, record),
    artifacts: artifacts ? artifactsOf(id, record) : [],
    history: historyLength === null ? history : historyLength === 0 ? [] : history.slice(-historyLength),
    metadata: undefined,
  };
}

/** How a task stands, and since when. Only what has no place in an answer has a message: a question, a failure. */
export function statusView(contextId: string, record: TaskRecord): TaskStatus {
  const { state, at } = record;
  const id = taskId({ contextId, turn: record.turn });
  return {
    state: stateView(state),
    timestamp: new Date(at).toISOString(),
    message: statusMessage(contextId, id, record),
  };
}

function statusMessage(contextId: string, id: string, record: TaskRecord): Message | undefined {
  const open = waitsFor(record);
  if (open.length > 0) return questionMessage(contextId, id, open);
  if (record.failure === null) return undefined;
  return agentMessage(contextId, id, `${id}-${record.state}`, [textPart(record.failure)]);
}

/** The protocol's name of a state. */
function stateView(state: TaskRecord["state"]): TaskState {
  switch (state) {
    case "working":
      return TaskState.TASK_STATE_WORKING;
    case "input_required":
      return TaskState.TASK_STATE_INPUT_REQUIRED;
    case "completed":
      return TaskState.TASK_STATE_COMPLETED;
    case "failed":
      return TaskState.TASK_STATE_FAILED;
    case "canceled":
      return TaskState.TASK_STATE_CANCELED;
  }
}

/** What the caller sent, and between that what it was asked; what it is asked now is the status's message. */
function historyOf(contextId: string, id: string, record: TaskRecord): Message[] {
  const questions = record.said.flatMap((said) =>
    said.kind === "pause" && said.open.length === 0 ? [said.pauses] : [],
  );
  return record.messages.flatMap((text, index) => {
    const pauses = questions[index];
    const message = { ...Message.fromJSON(JSON.parse(text)), contextId, taskId: id };
    return pauses === undefined ? [message] : [message, questionMessage(contextId, id, pauses)];
  });
}

/**
 * The answers. Where there are some, the question that a task waits for stands behind them once more: there are clients
 * that read a status's message only where there is no artifact (google/adk-go#913).
 */
function artifactsOf(id: string, record: TaskRecord): Artifact[] {
  const texts = record.said.flatMap((said) => (said.kind === "text" ? [said.text] : []));
  const answers = texts.map((text, index) => artifact(id, index, [textPart(text)]));
  const open = waitsFor(record);
  if (answers.length === 0 || open.length === 0) return answers;
  return [...answers, artifact(id, "question", questionParts(open))];
}

/** A caller's message as it is kept: the bytes of its files, which its user entry has, are left out. */
export function storedMessage(message: Message): string {
  const parts = message.parts.map((part) => {
    if (part.content?.$case !== "raw") return part;
    return { ...part, content: dataPart({ omitted: `${part.content.value.byteLength} bytes` }).content };
  });
  return JSON.stringify(Message.toJSON({ ...message, parts }));
}
