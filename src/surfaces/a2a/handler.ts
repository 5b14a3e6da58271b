import {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksRequest,
  type ListTasksResponse,
  type MessageFns,
  SendMessageRequest,
  type StreamResponse,
  SubscribeToTaskRequest,
  type Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { failureFields } from "../../http/log.ts";
import { failureOf } from "../../values/errors.ts";
import type { Call } from "./call.ts";
import { agentCard } from "./card.ts";
import { a2aError, malformed } from "./errors.ts";
import { readIncoming } from "./incoming.ts";
import { createPush, deletePush, getPush, listPushes } from "./push.ts";
import { sendMessage, streamMessage } from "./send.ts";
import { subscribe } from "./subscribe.ts";
import { cancelTask, getTask, listTasks } from "./tasks.ts";

/**
 * The protocol's operations for one caller of one agent, in the form that the SDK's translation of 0.3 asks for. All
 * that a task is stands in its session, so any isolate can serve any of its requests. Whatever is thrown is an error of
 * the protocol.
 */
export class Handler implements A2ARequestHandler {
  readonly #call: Call;
  /** Whether a request came as far as an operation: what is wrong before that is wrong with its params. */
  entered = false;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Asked by the SDK for the capabilities alone, before an operation. */
  async getAgentCard(): Promise<AgentCard> {
    const { agent, place } = this.#call;
    return AgentCard.fromJSON(agentCard(agent, place));
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    const { agent, place } = this.#call;
    return this.#do(async () => AgentCard.fromJSON(agentCard(agent, place, true)));
  }

  sendMessage(params: SendMessageRequest): Promise<Task> {
    return this.#do(async () => sendMessage(this.#call, readIncoming(this.#plain(SendMessageRequest, params))));
  }

  sendMessageStream(params: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#tell(() => streamMessage(this.#call, readIncoming(this.#plain(SendMessageRequest, params))));
  }

  resubscribe(params: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#tell(() => subscribe(this.#call, this.#plain(SubscribeToTaskRequest, params).id));
  }

  getTask(params: GetTaskRequest): Promise<Task> {
    return this.#do(async () => {
      const { id, historyLength } = this.#plain(GetTaskRequest, params);
      return getTask(this.#call, id, historyLength);
    });
  }

  cancelTask(params: CancelTaskRequest): Promise<Task> {
    return this.#do(async () => cancelTask(this.#call, this.#plain(CancelTaskRequest, params).id));
  }

  listTasks(params: ListTasksRequest): Promise<ListTasksResponse> {
    return this.#do(async () => {
      const listed = await listTasks(this.#call, params);
      return { ...listed, pageSize: listed.tasks.length };
    });
  }

  createTaskPushNotificationConfig(params: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    return this.#do(async () => createPush(this.#call, this.#plain(TaskPushNotificationConfig, params)));
  }

  getTaskPushNotificationConfig(params: GetTaskPushNotificationConfigRequest): Promise<TaskPushNotificationConfig> {
    return this.#do(async () => {
      const { taskId, id } = this.#plain(GetTaskPushNotificationConfigRequest, params);
      return getPush(this.#call, taskId, id);
    });
  }

  listTaskPushNotificationConfigs(
    params: ListTaskPushNotificationConfigsRequest,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#do(async () => {
      const { taskId } = this.#plain(ListTaskPushNotificationConfigsRequest, params);
      return { configs: await listPushes(this.#call, taskId), nextPageToken: "" };
    });
  }

  deleteTaskPushNotificationConfig(params: DeleteTaskPushNotificationConfigRequest): Promise<void> {
    return this.#do(async () => {
      const { taskId, id } = this.#plain(DeleteTaskPushNotificationConfigRequest, params);
      return deletePush(this.#call, taskId, id);
    });
  }

  /** Params of 0.3 are translated as they come, whatever their types: the codec of 1.0 gives each its own. */
  #plain<T>(codec: MessageFns<T>, params: T): T {
    if (this.#call.version === "1.0") return params;
    try {
      return codec.fromJSON(codec.toJSON(params));
    } catch {
      throw malformed("", "The params do not have the form that this method takes.");
    }
  }

  async #do<T>(operation: () => Promise<T>): Promise<T> {
    this.entered = true;
    try {
      return await operation();
    } catch (thrown) {
      throw this.#told(thrown);
    }
  }

  async *#tell<T>(operation: () => AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
    this.entered = true;
    try {
      yield* operation();
    } catch (thrown) {
      throw this.#told(thrown);
    }
  }

  /** The error for the caller. What is a fault of ours goes to the log, which alone gets its details. */
  #told(thrown: unknown): Error {
    const error = a2aError(thrown);
    const fields = failureFields(failureOf(thrown));
    if (error !== thrown && fields.level === "error") {
      this.#call.deps.log("a2a operation failed", { requestId: this.#call.requestId, ...fields });
    }
    return error;
  }
}
