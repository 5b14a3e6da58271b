import {
  AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from "@a2a-js/sdk";
import { PushNotificationNotSupportedError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { failureFields } from "../../http/log.ts";
import { failureOf } from "../../values/errors.ts";
import type { Call } from "./call.ts";
import { agentCard } from "./card.ts";
import { a2aError } from "./errors.ts";
import { readIncoming } from "./incoming.ts";
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
    return this.#do(() => sendMessage(this.#call, readIncoming(params)));
  }

  sendMessageStream(params: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#tell(() => streamMessage(this.#call, readIncoming(params)));
  }

  resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#tell(() => subscribe(this.#call, id));
  }

  getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return this.#do(() => getTask(this.#call, id, historyLength));
  }

  cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return this.#do(() => cancelTask(this.#call, id));
  }

  listTasks(params: ListTasksRequest): Promise<ListTasksResponse> {
    return this.#do(async () => {
      const listed = await listTasks(this.#call, params);
      return { ...listed, pageSize: listed.tasks.length };
    });
  }

  createTaskPushNotificationConfig(_params: unknown): Promise<never> {
    return this.#do(noPush);
  }

  getTaskPushNotificationConfig(_params: unknown): Promise<never> {
    return this.#do(noPush);
  }

  listTaskPushNotificationConfigs(_params: unknown): Promise<never> {
    return this.#do(noPush);
  }

  deleteTaskPushNotificationConfig(_params: unknown): Promise<never> {
    return this.#do(noPush);
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

async function noPush(): Promise<never> {
  throw new PushNotificationNotSupportedError();
}
