import type { Valid } from "./request.ts";

/** A surface, and what is valid there. */
export interface Surface {
  readonly name: string;
  /** Whether a route belongs to it. Every route belongs to one. */
  readonly has: (path: string) => boolean;
  /** Valid requests by route, `POST /api/sessions/:id/fork`. A route that is not here gets a request without a body. */
  readonly valid: Readonly<Record<string, readonly Omit<Valid, "method">[]>>;
  /** Names of members that a body may have. */
  readonly fields: readonly string[];
}

/** The conversation that is there, with two turns, one with a tool. */
export const KNOWN = "known";

/** Stands in valid requests for the id of the task that is there. */
const TASK = "the-task";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const hi = { role: "user", content: "hi" };

const chatBodies = [
  { model: "assistant", messages: [hi] },
  { model: "assistant", stream: true, stream_options: { include_usage: true }, messages: [hi] },
  {
    messages: [
      { role: "system", content: [{ type: "text", text: "Be kind." }] },
      { role: "user", content: [{ type: "text", text: "What is this?" }] },
      { role: "assistant", content: "A dot.", tool_calls: [{ id: "c", function: { name: "clock", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c", content: "12:00" },
      {
        role: "user",
        content: [
          { type: "text", text: "And this?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
          { type: "image_url", image_url: "https://images.test/dot.png" },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjQK" } },
        ],
      },
    ],
    metadata: { conversation_id: "with-parts" },
  },
  {
    messages: [hi],
    temperature: 0.5,
    top_p: 0.9,
    max_tokens: 100,
    stop: ["\n\n", "END"],
    reasoning_effort: "low",
    n: 1,
    user: "u",
    conversation: { id: "in-body" },
  },
];

const chat: Surface = {
  name: "Chat Completions",
  has: (path) => /^\/(v1\/)?(chat\/completions|models)/.test(path),
  valid: {
    "POST /v1/chat/completions": [
      ...chatBodies.map((body) => ({ path: "/v1/chat/completions", body })),
      ...chatBodies.map((body) => ({ path: "/v1/chat/completions", headers: { "x-conversation-id": KNOWN }, body })),
      { path: "/agents/other/v1/chat/completions", headers: { "x-conversation-id": "other" }, body: chatBodies[0] },
      { path: "/v1/chat/completions", headers: { "idempotency-key": "once-1" }, body: chatBodies[0] },
    ],
  },
  fields: [
    ...["model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p"],
    ...["stop", "reasoning_effort", "metadata", "conversation", "n", "tools", "functions", "response_format"],
    ...["logprobs", "top_logprobs", "modalities", "audio", "role", "content", "type", "text", "image_url", "url"],
    ...["file", "file_data", "filename", "name", "refusal", "tool_calls", "conversation_id", "include_usage"],
  ],
};

const session = (rest = "") => `/api/sessions/${KNOWN}${rest}`;

const sessions: Surface = {
  name: "the sessions API",
  has: (path) => path.startsWith("/api/sessions"),
  valid: {
    "GET /api/sessions": [
      { path: "/api/sessions?limit=10" },
      { path: `/api/sessions?limit=1&cursor=${encodeURIComponent('[1700000000000,"known"]')}` },
    ],
    "GET /api/sessions/:id/entries": [{ path: session("/entries?limit=3&after=1") }],
    "GET /api/sessions/:id/ledger": [{ path: session("/ledger?limit=1&after=0") }],
    "GET /api/sessions/:id/stream": [{ path: session("/stream"), headers: { "last-event-id": "turn_1:1" } }],
    "PATCH /api/sessions/:id": [
      { path: session(), body: { title: "A title" } },
      { path: session(), body: { mode: "plan" } },
    ],
    "POST /api/sessions/:id/fork": [{ path: session("/fork"), body: { at: 1 } }],
    "POST /api/sessions/import": [
      {
        path: "/api/sessions/import",
        body: {
          format: "holdfast/1",
          title: "Brought in",
          entries: [
            { seq: 1, at: 1, kind: "user", content: [{ type: "text", text: "hello" }] },
            { seq: 2, at: 2, kind: "assistant", content: [{ type: "text", text: "Hello." }] },
            { seq: 4, at: 3, kind: "rewind", to: 2 },
          ],
          blobs: [],
        },
      },
    ],
    "POST /api/sessions/:id/clone": [{ path: session("/clone"), body: {} }],
    "POST /api/sessions/:id/compact": [{ path: session("/compact"), body: { instructions: "Keep the numbers." } }],
    "POST /api/sessions/:id/pauses/:pauseId": [
      { path: session("/pauses/p"), body: { decision: "approve" } },
      { path: session("/pauses/p"), body: { answer: "yes" } },
    ],
  },
  fields: [
    "at",
    "title",
    "mode",
    "decision",
    "answer",
    "instructions",
    "id",
    "entries",
    "format",
    "seq",
    "turn",
    ...[
      "kind",
      "content",
      "origin",
      "type",
      "text",
      "source",
      "hash",
      "media",
      "base64",
      "blobs",
      "session",
      "signature",
    ],
  ],
};

const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hi" }], contextId: KNOWN };
const withFile = {
  ...{ messageId: "m-2", role: "ROLE_USER", metadata: { a: 1 }, extensions: ["https://x.test/e"] },
  parts: [{ text: "look" }, { raw: PNG, mediaType: "image/png", filename: "a.png" }, { data: { a: [1] } }],
};
const said = {
  kind: "message",
  messageId: "m-3",
  role: "user",
  parts: [{ kind: "text", text: "hi" }],
  contextId: "old",
};
const configuration = { acceptedOutputModes: ["text/plain"], historyLength: 2, blocking: true };

const push = {
  url: "https://example.com/hook",
  token: "t",
  authentication: { scheme: "Bearer", credentials: "secret" },
};
const oldPush = { ...push, id: "p", authentication: { schemes: ["Bearer"], credentials: "secret" } };

const rpc = (method: string, params: unknown) => ({
  path: "/a2a",
  headers: method.includes("/") ? {} : { "a2a-version": "1.0" },
  body: { jsonrpc: "2.0", id: 7, method, params },
});

const a2a: Surface = {
  name: "A2A",
  has: (path) => /a2a|message:|\/tasks|[cC]ard|well-known/.test(path),
  valid: {
    "POST /a2a": [
      rpc("SendMessage", { message, configuration }),
      rpc("SendMessage", { message: withFile }),
      rpc("SendStreamingMessage", { message: withFile }),
      rpc("GetTask", { id: TASK, historyLength: 1 }),
      rpc("ListTasks", { contextId: "tasked", pageSize: 5 }),
      rpc("CancelTask", { id: TASK }),
      rpc("SubscribeToTask", { id: TASK }),
      rpc("CreateTaskPushNotificationConfig", { taskId: TASK, id: "p", ...push }),
      rpc("GetTaskPushNotificationConfig", { taskId: TASK, id: "p" }),
      rpc("ListTaskPushNotificationConfigs", { taskId: TASK, pageSize: 1 }),
      rpc("DeleteTaskPushNotificationConfig", { taskId: TASK, id: "p" }),
      rpc("GetExtendedAgentCard", {}),
      rpc("SendMessage", { message: withFile, configuration: { taskPushNotificationConfig: push } }),
      rpc("tasks/cancel", { id: TASK }),
      rpc("tasks/resubscribe", { id: TASK }),
      rpc("tasks/pushNotificationConfig/set", { taskId: TASK, pushNotificationConfig: oldPush }),
      rpc("tasks/pushNotificationConfig/get", { id: TASK, pushNotificationConfigId: "p" }),
      rpc("tasks/pushNotificationConfig/list", { id: TASK }),
      rpc("tasks/pushNotificationConfig/delete", { id: TASK, pushNotificationConfigId: "p" }),
      rpc("agent/getAuthenticatedExtendedCard", {}),
      rpc("message/send", { message: said, configuration }),
      rpc("message/stream", { message: said }),
      rpc("tasks/get", { id: TASK }),
    ],
    "POST /message:send": [{ path: "/message:send", body: { message: withFile, configuration } }],
    "POST /message:stream": [{ path: "/message:stream", body: { message } }],
    "POST /v1/message:send": [{ path: "/v1/message:send", body: { message: said } }],
    "POST /tasks/:task/pushNotificationConfigs": [{ path: `/tasks/${TASK}/pushNotificationConfigs`, body: push }],
    "POST /v1/tasks/:task/pushNotificationConfigs": [
      { path: `/v1/tasks/${TASK}/pushNotificationConfigs`, body: { pushNotificationConfig: oldPush } },
    ],
    "GET /tasks": [{ path: "/tasks?contextId=tasked&pageSize=1&includeArtifacts=true" }],
  },
  fields: [
    ...["jsonrpc", "id", "method", "params", "message", "messageId", "role", "parts", "text", "raw", "url", "data"],
    ...["mediaType", "filename", "contextId", "taskId", "referenceTaskIds", "metadata", "extensions", "configuration"],
    ...["historyLength", "blocking", "returnImmediately", "acceptedOutputModes", "kind", "pageSize", "pageToken"],
    ...[
      "token",
      "authentication",
      "scheme",
      "schemes",
      "credentials",
      "pushNotificationConfig",
      "taskPushNotificationConfig",
    ],
    ...["pushNotificationConfigId", "file", "bytes", "uri", "content", "request", "status", "statusTimestampAfter"],
  ],
};

const others: Surface = {
  name: "what else there is",
  has: (path) => ![chat, sessions, a2a].some((surface) => surface.has(path)),
  valid: {},
  fields: ["id"],
};

export const SURFACES: readonly Surface[] = [chat, sessions, a2a, others];

/** The valid requests of a surface, given all routes of the app and what the world began with. */
export function validRequests(
  surface: Surface,
  routes: readonly { readonly method: string; readonly path: string }[],
  { exported, task }: { readonly exported: unknown; readonly task: string },
): Valid[] {
  return routes
    .filter(({ path }) => surface.has(path))
    .flatMap(({ method, path }): Valid[] => {
      if (path === "/api/sessions/import") return [{ method, path, body: exported }];
      const known = surface.valid[`${method} ${path}`];
      if (known !== undefined) return known.map((valid) => ({ method, ...valid }));
      const named = path.replace(/:task\{[^}]*:([a-z]+)\}/, `${TASK}:$1`).replace(":task", TASK);
      const whole = named.replace(":id", KNOWN).replace(/\/:[a-z][^/]*/gi, "/x");
      return [{ method, path: whole, ...(["GET", "DELETE"].includes(method) ? {} : { body: {} }) }];
    })
    .map((valid) => JSON.parse(JSON.stringify(valid).replaceAll(TASK, task)));
}
