import {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  type ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import { A2AError } from "@a2a-js/sdk/errors";
import { malformed } from "./errors.ts";
import type { Handler } from "./handler.ts";

/** Params as they came, an object of anything. */
export type Params = Readonly<Record<string, unknown>>;

/** An operation of 1.0 from the JSON of its params to that of its result. */
export type Operation = (handler: Handler, params: Params) => Promise<unknown>;
/** One that streams. */
export type Stream = (handler: Handler, params: Params) => AsyncGenerator<unknown, void, undefined>;

/** By the names of JSON-RPC (specification §5.3); HTTP+JSON has paths for the same. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  SendMessage: async (handler, params) => ({
    task: Task.toJSON(await handler.sendMessage(read(SendMessageRequest, params))),
  }),
  GetTask: async (handler, params) => Task.toJSON(await handler.getTask(read(GetTaskRequest, params))),
  CancelTask: async (handler, params) => Task.toJSON(await handler.cancelTask(read(CancelTaskRequest, params))),
  async ListTasks(handler, params) {
    const request = read(ListTasksRequest, params);
    return listJson(await handler.listTasks(request), request.includeArtifacts ?? false);
  },
  CreateTaskPushNotificationConfig: async (handler, params) =>
    TaskPushNotificationConfig.toJSON(
      await handler.createTaskPushNotificationConfig(read(TaskPushNotificationConfig, params)),
    ),
  GetTaskPushNotificationConfig: async (handler, params) =>
    TaskPushNotificationConfig.toJSON(
      await handler.getTaskPushNotificationConfig(read(GetTaskPushNotificationConfigRequest, params)),
    ),
  ListTaskPushNotificationConfigs: async (handler, params) => ({
    configs: [],
    ...object(
      ListTaskPushNotificationConfigsResponse.toJSON(
        await handler.listTaskPushNotificationConfigs(read(ListTaskPushNotificationConfigsRequest, params)),
      ),
    ),
  }),
  async DeleteTaskPushNotificationConfig(handler, params) {
    await handler.deleteTaskPushNotificationConfig(read(DeleteTaskPushNotificationConfigRequest, params));
    return null;
  },
  GetExtendedAgentCard: async (handler) => AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard()),
};

export const STREAMS: Readonly<Record<string, Stream>> = {
  SendStreamingMessage: (handler, params) => json(handler.sendMessageStream(read(SendMessageRequest, params))),
  SubscribeToTask: (handler, params) => json(handler.resubscribe(read(SubscribeToTaskRequest, params))),
};

interface Codec<T> {
  fromJSON(object: unknown): T;
}

/** Reads params by the SDK's codec, which throws whatever it stumbles over. */
function read<T>(codec: Codec<T>, params: Params): T {
  try {
    return codec.fromJSON(params);
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    throw malformed("", "The params do not have the form that this operation takes.");
  }
}

async function* json(
  events: AsyncGenerator<StreamResponse, void, undefined>,
): AsyncGenerator<unknown, void, undefined> {
  for await (const event of events) yield StreamResponse.toJSON(event);
}

/** All fields of a list are required, and `artifacts` of its tasks where they were asked for. */
function listJson(list: ListTasksResponse, artifacts: boolean) {
  const { nextPageToken, pageSize, totalSize } = list;
  const tasks = list.tasks.map((task) => {
    const view = object(Task.toJSON(task));
    return artifacts ? { artifacts: [], ...view } : view;
  });
  return { tasks, nextPageToken, pageSize, totalSize };
}

function object(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
