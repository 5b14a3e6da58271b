import { createHash } from "node:crypto";
import { type Message, type StreamResponse, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import type { ToolContext } from "../../define/types.ts";
import { Ask } from "../../values/pause.ts";
import { connect, type Remote } from "./connect.ts";
import { RemoteTask, textOf } from "./remote-task.ts";

/** What the model says. */
export interface RemoteInput {
  readonly message: string;
  readonly task?: string | undefined;
}

/**
 * Sends a message to another agent and waits for what it comes to: the answer's text; a question of it as ours; a failure
 * as a failed result. Throws when it can't be reached. If the call is stopped, so is the task.
 */
export async function askRemote(remote: Remote, input: RemoteInput, context: ToolContext): Promise<unknown> {
  const client = await connect(remote, context);
  const task = new RemoteTask();
  let stopping: Promise<unknown> | null = null;
  const stop = () => {
    // Where this fails the other agent goes on for nothing.
    if (task.id !== null) stopping = client.cancelTask({ ...named(task.id), metadata: undefined }).catch(() => {});
  };
  context.signal.addEventListener("abort", stop, { once: true });
  try {
    const { signal } = context;
    const message = messageOf(remote, input, context);
    await told(client.sendMessageStream({ ...REQUEST, message }, { signal }), task, context);
    // A stream may be cut; the task goes on, and can be asked for.
    for (let tries = 0; !task.settled && tries < TRIES && !signal.aborted; tries++) await goOn(client, task, context);
    return outcome(remote, task);
  } finally {
    await stopping;
    context.signal.removeEventListener("abort", stop);
  }
}

/** So often a task is asked for again whose stream ended before it did. */
const TRIES = 10;

const REQUEST = { tenant: "", configuration: undefined, metadata: undefined };

const named = (id: string) => ({ tenant: "", id });

async function goOn(client: Client, task: RemoteTask, context: ToolContext): Promise<void> {
  if (task.id === null) throw new Error("The agent told nothing of its task.");
  const { signal } = context;
  task.replace(await client.getTask(named(task.id), { signal }));
  if (!task.settled) await told(client.resubscribeTask(named(task.id), { signal }), task, context);
}

/** Reads a stream to its end. What breaks it off counts only before the task is known. */
async function told(events: AsyncIterable<StreamResponse>, task: RemoteTask, { progress, signal }: ToolContext) {
  try {
    for await (const event of events) {
      const line = task.take(event);
      if (line !== "") progress(line);
    }
  } catch (error) {
    if (task.id === null || signal.aborted) throw error;
  }
}

/** All messages of a session go to one conversation, whose id follows from the session's: nothing has to be kept. */
function messageOf({ url }: Remote, input: RemoteInput, { callId, owner, session }: ToolContext): Message {
  const contextId = digest([owner.id, session.agent, session.id, url]);
  const text = { content: { $case: "text" as const, value: input.message }, metadata: undefined };
  return {
    // The same call that is made again, by an isolate that goes on with the turn, is the same message.
    messageId: digest([contextId, callId]),
    contextId: input.task ? "" : contextId,
    taskId: input.task ?? "",
    role: 1,
    parts: [{ ...text, filename: "", mediaType: "" }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function digest(of: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, 32);
}

function outcome({ name }: Remote, task: RemoteTask): unknown {
  const said = task.status?.message === undefined ? "" : textOf(task.status.message.parts);
  switch (task.status?.state) {
    case undefined:
    case TaskState.TASK_STATE_COMPLETED:
      return task.text || said || "The agent is done, and said nothing.";
    case TaskState.TASK_STATE_INPUT_REQUIRED: {
      const note = `The agent ${name} asked its user this, and waits. Tell it the answer: call ${name} with task "${task.id}".`;
      return new Ask({ kind: "question", question: said || `The agent ${name} waits for more input.`, note });
    }
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return failed(`The agent needs to be authorized first. ${said}`);
    case TaskState.TASK_STATE_FAILED:
      return failed(`The agent failed. ${said}`);
    case TaskState.TASK_STATE_CANCELED:
      return failed("The task was cancelled.");
    case TaskState.TASK_STATE_REJECTED:
      return failed(`The agent refused. ${said}`);
    default:
      return failed(`The agent did not come to an end in time. So far it said: ${task.text}`);
  }
}

function failed(text: string) {
  return { isError: true, content: [{ type: "text", text: text.trim() }] };
}
