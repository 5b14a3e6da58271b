import { createHash } from "node:crypto";
import type { Message, SendMessageRequest, TaskPushNotificationConfig } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import { checkConversationId } from "../../http/conversation.ts";
import { OUTPUT_MODES } from "./card.ts";
import { type Content, readParts } from "./content.ts";
import { malformed } from "./errors.ts";
import { parseTaskId } from "./task-id.ts";

/** A message that was sent, checked. */
export interface Incoming extends Content {
  readonly message: Message;
  /** The conversation that it names, by its context or by its task; null where it names none. */
  readonly contextId: string | null;
  /** The task that it goes on with; null where it starts one. */
  readonly taskId: string | null;
  readonly returnImmediately: boolean;
  readonly historyLength: number | null;
  readonly push: TaskPushNotificationConfig | null;
}

/** Characters of a message's id, and of what else it carries that is not its content. */
const ID_CHARS = 256;
const METADATA_CHARS = 16 * 1024;

/** Checks a `SendMessage` request. Throws -32602 that says where and why, or -32005 for media. Stores nothing. */
export function readIncoming({ message, configuration }: SendMessageRequest): Incoming {
  if (message === undefined) throw malformed("message", "is missing");
  const { messageId, parts } = message;
  if (messageId === "") throw malformed("message.messageId", "is missing");
  if (messageId.length > ID_CHARS) throw malformed("message.messageId", `has more than ${ID_CHARS} characters`);
  if (message.role !== USER) throw malformed("message.role", "a message that is sent has the role ROLE_USER");
  if (parts.length === 0) throw malformed("message.parts", "must not be empty");
  const about = { metadata: message.metadata, extensions: message.extensions, tasks: message.referenceTaskIds };
  if (JSON.stringify(about).length > METADATA_CHARS) {
    throw malformed("message.metadata", `takes more than ${METADATA_CHARS} characters`);
  }
  checkModes(configuration?.acceptedOutputModes ?? []);
  const { taskId } = message;
  return {
    ...readParts(parts, "message.parts"),
    message,
    taskId: taskId === "" ? null : taskId,
    contextId: contextOf(message),
    returnImmediately: configuration?.returnImmediately ?? false,
    historyLength: checkHistoryLength(configuration?.historyLength, "configuration.historyLength"),
    push: configuration?.taskPushNotificationConfig ?? null,
  };
}

const USER = 1;

/** A count of messages, or null where none was given. */
export function checkHistoryLength(given: number | undefined, field: string): number | null {
  if (given === undefined) return null;
  if (Number.isSafeInteger(given) && given >= 0) return given;
  throw malformed(field, "is a whole number, 0 or more");
}

/** The context a message belongs to. A task's is in its id, and another one beside it is a contradiction. */
function contextOf({ contextId, taskId }: Message): string | null {
  const given = contextId === "" ? null : checkConversationId(contextId, "message.contextId");
  const task = taskId === "" ? null : parseTaskId(taskId);
  if (given !== null && task !== null && task.contextId !== given) {
    throw malformed("message.contextId", `the task ${taskId} belongs to another context`);
  }
  return given ?? task?.contextId ?? null;
}

/** Answers come as text, so whoever takes no text can't be answered. Some clients write `text` for `text/plain`. */
function checkModes(accepted: readonly string[]): void {
  const ours = [...OUTPUT_MODES, "text", "text/*", "*/*", "text/markdown"];
  if (accepted.length === 0 || accepted.some((mode) => ours.includes(mode.toLowerCase()))) return;
  throw new ContentTypeNotSupportedError(
    `configuration.acceptedOutputModes: answers come as ${OUTPUT_MODES.join(" or ")}.`,
  );
}

/**
 * The context of a message that names none. It follows from the message and the day, so that the same message sent again
 * by a client that got no answer is found again: it would otherwise be answered twice.
 */
export function derivedContext(owner: string, agent: string, message: Message, now: number): string {
  const day = Math.floor(now / 86_400_000);
  const of = JSON.stringify([owner, agent, day, fingerprint(message)]);
  return createHash("sha256").update(of).digest("hex").slice(0, 32);
}

/** Tells a repeat of a message from another one: its id alone does not, since some clients count from 1 in each chat. */
export function fingerprint({ messageId, taskId, parts }: Message): string {
  const said = parts.map(({ content, filename, mediaType }) => {
    const value = content?.$case === "raw" ? Buffer.from(content.value).toString("base64") : content?.value;
    return [content?.$case, value, filename, mediaType];
  });
  return createHash("sha256")
    .update(JSON.stringify([messageId, taskId, said]))
    .digest("hex");
}
