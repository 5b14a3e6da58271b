import { type Artifact, type Message, type Part, Role } from "@a2a-js/sdk";

export function textPart(text: string): Part {
  return { content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" };
}

/** Data that is JSON. */
export function dataPart(value: object): Part {
  return { content: { $case: "data", value }, metadata: undefined, filename: "", mediaType: "" };
}

/** Something that the agent says of a task. */
export function agentMessage(contextId: string, taskId: string, messageId: string, parts: Part[]): Message {
  return {
    messageId,
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** A part of a task's answer, from 0, or the question that it waits for. */
export function artifact(taskId: string, which: number | "question", parts: Part[]): Artifact {
  return {
    artifactId: `${taskId}-${which}`,
    name: which === "question" ? "question" : "answer",
    description: "",
    parts,
    metadata: undefined,
    extensions: [],
  };
}
