import type { Version } from "./version.ts";

/** A path of HTTP+JSON (specification §11.3), relative to an agent's root; 0.3 has the same ones under `/v1`. */
export interface RestRoute {
  readonly methods: string[];
  readonly path: string;
  /** The operation's name in 1.0. */
  readonly operation: string;
  /** The params that the path names. */
  readonly ids: (params: Record<string, string>) => Record<string, string>;
  /** The params that the query may name. */
  readonly query?: readonly string[];
  /** Only in that version; in both if not given. */
  readonly only?: Version;
}

const none = () => ({});
const configs = "/tasks/:task/pushNotificationConfigs";

/** The id before the verb that the last segment ends with: `x:cancel`. */
const verb = (name: string) => ({
  path: `/tasks/:task{[^/]+:${name}}`,
  ids: ({ task = "" }) => ({ id: task.slice(0, -name.length - 1) }),
});

/** Those with a verb stand before those without. */
export const REST: readonly RestRoute[] = [
  { methods: ["POST"], path: "/message:send", operation: "SendMessage", ids: none },
  { methods: ["POST"], path: "/message:stream", operation: "SendStreamingMessage", ids: none },
  // The specification's text says POST, its protocol buffers GET.
  { methods: ["GET", "POST"], ...verb("subscribe"), operation: "SubscribeToTask" },
  { methods: ["POST"], ...verb("cancel"), operation: "CancelTask" },
  {
    methods: ["GET"],
    path: "/tasks",
    operation: "ListTasks",
    ids: none,
    query: [
      ...["contextId", "status", "pageSize", "pageToken", "historyLength", "statusTimestampAfter"],
      "includeArtifacts",
    ],
    only: "1.0",
  },
  {
    methods: ["GET"],
    path: "/tasks/:task",
    operation: "GetTask",
    ids: ({ task = "" }) => ({ id: task }),
    query: ["historyLength"],
  },
  { methods: ["POST"], path: configs, operation: "CreateTaskPushNotificationConfig", ids: taskId },
  {
    methods: ["GET"],
    path: configs,
    operation: "ListTaskPushNotificationConfigs",
    ids: taskId,
    query: ["pageSize", "pageToken"],
  },
  { methods: ["GET"], path: `${configs}/:config`, operation: "GetTaskPushNotificationConfig", ids: configId },
  { methods: ["DELETE"], path: `${configs}/:config`, operation: "DeleteTaskPushNotificationConfig", ids: configId },
  { methods: ["GET"], path: "/extendedAgentCard", operation: "GetExtendedAgentCard", ids: none, only: "1.0" },
  { methods: ["GET"], path: "/card", operation: "GetExtendedAgentCard", ids: none, only: "0.3" },
];

function taskId({ task = "" }: Record<string, string>): Record<string, string> {
  return { taskId: task };
}

function configId({ task = "", config = "" }: Record<string, string>): Record<string, string> {
  return { taskId: task, id: config };
}
