import type { Artifact, Part, StreamResponse, Task, TaskStatus } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";

/** What is known of a task of another agent, put together from what it tells. */
export class RemoteTask {
  id: string | null = null;
  status: TaskStatus | undefined;
  #artifacts = new Map<string, Artifact>();
  #answered = false;

  /** Takes an event. Answers the line in which it says how far the agent is; empty where it says nothing of the kind. */
  take({ payload }: StreamResponse): string {
    switch (payload?.$case) {
      case "task":
        this.replace(payload.value);
        return "";
      case "message":
        this.#answered = true;
        this.#artifacts.set("", { ...NO_ARTIFACT, parts: payload.value.parts });
        return "";
      case "statusUpdate": {
        this.id = payload.value.taskId;
        this.status = payload.value.status;
        const working = this.status?.state === TaskState.TASK_STATE_WORKING;
        return working && this.status?.message ? textOf(this.status.message.parts) : "";
      }
      case "artifactUpdate": {
        this.id = payload.value.taskId;
        const { artifact, append } = payload.value;
        if (artifact === undefined) return "";
        const known = append ? (this.#artifacts.get(artifact.artifactId)?.parts ?? []) : [];
        this.#artifacts.set(artifact.artifactId, { ...artifact, parts: [...known, ...artifact.parts] });
        return "";
      }
      case undefined:
        return "";
    }
  }

  replace({ id, status, artifacts }: Task): void {
    this.id = id;
    this.status = status;
    this.#artifacts = new Map(artifacts.map((artifact) => [artifact.artifactId, artifact]));
  }

  /** Nothing more comes by itself: it is over, waits, or was answered by a message alone. */
  get settled(): boolean {
    const state = this.status?.state;
    return this.#answered || (state !== undefined && !ON_ITS_WAY.includes(state));
  }

  /** The answer: the text of all artifacts. */
  get text(): string {
    return [...this.#artifacts.values()].map(({ parts }) => textOf(parts)).join("\n\n");
  }
}

const ON_ITS_WAY = [
  TaskState.TASK_STATE_UNSPECIFIED,
  TaskState.TASK_STATE_SUBMITTED,
  TaskState.TASK_STATE_WORKING,
] as readonly TaskState[];

const NO_ARTIFACT = { artifactId: "", name: "", description: "", metadata: undefined, extensions: [] };

/** Parts as text: data as its JSON, files by their address or name. */
export function textOf(parts: readonly Part[]): string {
  const texts = parts.filter(({ content }) => content?.$case === "text");
  return (texts.length > 0 ? texts : parts).map(partText).join("");
}

function partText({ content, filename }: Part): string {
  switch (content?.$case) {
    case "text":
      return content.value;
    case "data":
      return JSON.stringify(content.value);
    case "url":
      return content.value;
    case "raw":
      return `[file ${filename}]`;
    case undefined:
      return "";
  }
}
