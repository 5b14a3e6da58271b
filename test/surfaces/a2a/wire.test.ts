import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KEYS, type Stage, startStage } from "../../e2e/chat.ts";
import { call, say } from "../../emulators/anthropic/index.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({}, { entry: "test/surfaces/a2a/worker.ts" });
});
afterAll(() => stage.close());
beforeEach(() => stage.model.reset());

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
type Json = any;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
}

async function ask(path: string, init: RequestInit = {}, who: keyof typeof KEYS | null = "ann"): Promise<Answer> {
  const headers = new Headers(init.headers);
  if (who !== null) headers.set("authorization", `Bearer ${KEYS[who]}`);
  if (init.body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
  const response = await stage.workerd.fetch(path, { ...init, headers });
  const text = await response.text();
  let body: Json = null;
  try {
    body = JSON.parse(text);
  } catch {
    // A stream, or nothing.
  }
  return { status: response.status, headers: response.headers, text, body };
}

const post = (path: string, body: Json, headers: Record<string, string> = {}) =>
  ask(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), headers });

const rpc = (method: string, params: Json, headers: Record<string, string> = {}) =>
  post("/a2a", { jsonrpc: "2.0", id: 7, method, params }, headers);

let count = 0;
const user = (text: string, more: Json = {}) => {
  count += 1;
  return { messageId: `wire-${count}`, role: "ROLE_USER", parts: [{ text }], ...more };
};
const said = (text: string, more: Json = {}) => ({
  kind: "message",
  messageId: `said-${++count}`,
  role: "user",
  parts: [{ kind: "text", text }],
  ...more,
});

/** A finished task. */
async function finished(text = "Done."): Promise<Json> {
  stage.model.script(say(text));
  return (await rpc("SendMessage", { message: user("do it") })).body.result.task;
}

describe("An envelope that is wrong is told so, with status 200", () => {
  test.for<[name: string, body: string, code: number, id: Json]>([
    ["no JSON", "{", -32700, null],
    ["nothing", "", -32700, null],
    ["a list of requests", "[]", -32600, null],
    ["a text", '"SendMessage"', -32600, null],
    ["no version", '{"id":1,"method":"GetTask"}', -32600, 1],
    ["another version", '{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600, 1],
    ["no method", '{"jsonrpc":"2.0","id":"a"}', -32600, "a"],
    ["a method that is no text", '{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"GetTask"}', -32600, null],
    ["a broken number as id", '{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}', -32600, null],
    ["a method that is not there", '{"jsonrpc":"2.0","id":1,"method":"Nothing","params":{}}', -32601, 1],
    ["an old method that is not there", '{"jsonrpc":"2.0","id":1,"method":"tasks/none","params":{}}', -32601, 1],
    ["an inherited name as method", '{"jsonrpc":"2.0","id":1,"method":"toString","params":{}}', -32601, 1],
    ["params that are a list", '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602, 1],
    ["no params", '{"jsonrpc":"2.0","id":1,"method":"SendMessage"}', -32602, 1],
  ])("%s", async ([_, body, code, id]) => {
    const answer = await post("/a2a", body);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ jsonrpc: "2.0", id, error: { code } });
    expect(answer.body.error.message).toEqual(expect.any(String));
  });

  test("another media type is -32005", async () => {
    const answer = await post("/a2a", "{}", { "content-type": "text/plain" });
    expect(answer.status).toBe(200);
    expect(answer.body.error.code).toBe(-32005);
    expect(answer.body.error.data[0].reason).toBe("CONTENT_TYPE_NOT_SUPPORTED");
  });

  test("a body above the limit is 413, in the same shape", async () => {
    const answer = await rpc("SendMessage", { message: user("x".repeat(5_000_000)) });
    expect(answer.status).toBe(413);
    expect(answer.body.error.code).toBe(-32600);
  });
});

describe("A message that can't be used is -32602 that says where, or -32005 for its media", () => {
  test.for<[name: string, message: Json, code: number, field: string]>([
    ["without parts", user("", { parts: [] }), -32602, "message.parts"],
    ["with parts that are a text", user("", { parts: "hi" }), -32602, "message.parts"],
    ["with an empty part", user("", { parts: [{}] }), -32602, "message.parts[0]"],
    ["with a part that is null", user("", { parts: [null] }), -32602, ""],
    ["that says nothing", user(" "), -32602, "message.parts"],
    ["without an id", user("hi", { messageId: "" }), -32602, "message.messageId"],
    ["with an endless id", user("hi", { messageId: "x".repeat(300) }), -32602, "message.messageId"],
    ["of the agent", user("hi", { role: "ROLE_AGENT" }), -32602, "message.role"],
    ["of nobody", user("hi", { role: "user" }), -32602, "message.role"],
    ["with a bad context", user("hi", { contextId: "a/b" }), -32602, "message.contextId"],
    ["with broken base64", user("", { parts: [{ raw: "%%%", mediaType: "image/png" }] }), -32602, "message.parts[0]"],
    [
      "with a picture that is none",
      user("", { parts: [{ raw: "aGVsbG8=", mediaType: "image/png" }] }),
      -32602,
      "message.parts[0]",
    ],
    ["with a text too long", user("x".repeat(300_000)), -32602, "message.parts[0]"],
    ["with a movie", user("", { parts: [{ raw: "aGVsbG8=", mediaType: "video/mp4" }] }), -32005, ""],
    ["with a file of no type", user("", { parts: [{ raw: "aGVsbG8=" }] }), -32005, ""],
    ["with a text that is none", user("", { parts: [{ text: "hi", mediaType: "audio/wav" }] }), -32005, ""],
    [
      "with a link into the house",
      user("", { parts: [{ url: "http://x/y", mediaType: "image/png" }] }),
      -32602,
      "message.parts[0]",
    ],
  ])("%s", async ([_, message, code, field]) => {
    const answer = await rpc("SendMessage", { message });
    expect(answer.status).toBe(200);
    expect(answer.body.error.code).toBe(code);
    const [info, bad] = answer.body.error.data;
    expect(info).toMatchObject({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", domain: "a2a-protocol.org" });
    if (field !== "") expect(bad.fieldViolations[0].field).toBe(field);
    expect(stage.model.requests).toEqual([]);
    const { code: restCode } = (await post("/message:send", { message })).body.error;
    expect(restCode).toBe(400);
  });

  test("one whose sender takes no text", async () => {
    const params = { message: user("hi"), configuration: { acceptedOutputModes: ["video/mp4"] } };
    expect((await rpc("SendMessage", params)).body.error.code).toBe(-32005);
  });

  test("what models can't take as a file they get as text", async () => {
    stage.model.script(say("Read."));
    const csv = Buffer.from("a,b\n1,2").toString("base64");
    const parts = [{ raw: csv, mediaType: "text/csv", filename: "t.csv" }, { data: { city: "Rome" } }];
    const { body } = await rpc("SendMessage", { message: user("", { parts }) });
    expect(body.result.task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(stage.model.requests[0]?.bodyText).toContain("t.csv:\\na,b\\n1,2");
    expect(stage.model.requests[0]?.bodyText).toContain('{\\"city\\":\\"Rome\\"}');
    expect(body.result.task.history[0].parts[1]).toEqual({ data: { city: "Rome" } });
  });
});

describe("Versions", () => {
  test.for(["2.0", "0.2", "x", "1"])("%s is refused with -32009 and, over HTTP+JSON, 400", async (version) => {
    const answer = await rpc("GetTask", { id: "x" }, { "a2a-version": version });
    expect(answer.status).toBe(200);
    expect(answer.body.error).toMatchObject({ code: -32009, data: [{ reason: "VERSION_NOT_SUPPORTED" }] });
    const rest = await ask("/tasks/x", { headers: { "a2a-version": version } });
    expect(rest.status).toBe(400);
    expect(rest.body.error.details[0].reason).toBe("VERSION_NOT_SUPPORTED");
  });

  test.for(["1.0", "1.0.1", " 1.0 "])("%j is 1.0", async (version) => {
    expect((await rpc("GetTask", { id: "x" }, { "a2a-version": version })).body.error.code).toBe(-32001);
    expect((await rpc("tasks/get", { id: "x" }, { "a2a-version": version })).body.error.code).toBe(-32601);
  });

  test("the query may say it, too", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" } };
    expect((await post("/a2a?A2A-Version=3.0", body)).body.error.code).toBe(-32009);
  });

  test("without one, the method's name says which it is", async () => {
    const modern = await rpc("GetTask", { id: "x" });
    expect(modern.body.error.data[0].reason).toBe("TASK_NOT_FOUND");
    const old = await rpc("tasks/get", { id: "x" });
    expect(old.body.error).toEqual({ code: -32001, message: expect.any(String) });
  });
});

describe("A task that is not there, and another's, look alike", () => {
  test.for(["GetTask", "CancelTask", "SubscribeToTask"])("%s", async (method) => {
    const { id } = await finished();
    const unknown = `nothing.${"0".repeat(32)}`;
    for (const [who, task] of [
      ["ann", unknown],
      ["bob", id],
      ["ann", "x"],
      ["ann", "../../x"],
    ] as const) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { id: task } });
      const { body: answer, status } = await ask("/a2a", { method: "POST", body }, who);
      expect(status).toBe(200);
      expect(answer.error).toEqual({
        code: -32001,
        message: `There is no task ${JSON.stringify(task)}.`,
        data: [{ "@type": expect.any(String), reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org" }],
      });
    }
    const path = method === "GetTask" ? "" : method === "CancelTask" ? ":cancel" : ":subscribe";
    const rest = { method: method === "GetTask" ? "GET" : "POST" };
    const other = await ask(`/tasks/${id}${path}`, rest, "bob");
    expect(other.status).toBe(404);
    expect(other.body.error).toMatchObject({ code: 404, status: "NOT_FOUND" });
    expect(other.headers.get("content-type")).toBe("application/a2a+json");
  });

  test("a message to one", async () => {
    const { id, contextId } = await finished();
    const body = (message: Json) =>
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
    const stranger = await ask("/a2a", { method: "POST", body: body(user("hi", { taskId: id })) }, "bob");
    expect(stranger.body.error.code).toBe(-32001);
    // Another's contextId is one's own, new conversation.
    stage.model.script(say("New."));
    const own = await ask("/a2a", { method: "POST", body: body(user("hi", { contextId })) }, "bob");
    expect(own.body.result.task.contextId).toBe(contextId);
    expect(stage.model.requests.at(-1)?.bodyText).not.toContain("do it");
  });
});

test("a message to a task that is over is -32004 and says how to go on", async () => {
  const { id, contextId } = await finished();
  const { body } = await rpc("SendMessage", { message: user("more", { taskId: id }) });
  expect(body.error.code).toBe(-32004);
  expect(body.error.message).toContain(`send contextId ${contextId} without taskId`);
  const rest = await post("/message:stream", { message: user("more", { taskId: id }) });
  expect(rest.status).toBe(400);
  expect(rest.body.error.details[0].reason).toBe("UNSUPPORTED_OPERATION");
});

test("a task and another context are a contradiction", async () => {
  const { id } = await finished();
  const { body } = await rpc("SendMessage", { message: user("more", { taskId: id, contextId: "other" }) });
  expect(body.error.code).toBe(-32602);
});

test("what a stream of a finished or unknown task says is no stream", async () => {
  const { id } = await finished();
  const over = await rpc("SubscribeToTask", { id });
  expect(over.headers.get("content-type")).toContain("application/json");
  expect(over.body.error.code).toBe(-32004);
  const unknown = await rpc("tasks/resubscribe", { id: "x" });
  expect(unknown.headers.get("content-type")).toContain("application/json");
  expect(unknown.body.error.code).toBe(-32001);
});

test("a stream is data frames alone: enveloped over JSON-RPC, bare over HTTP+JSON, nothing behind the end", async () => {
  stage.model.script(say("Hello there."), say("Hello there."));
  const enveloped = await rpc("SendStreamingMessage", { message: user("hi") });
  expect(enveloped.headers.get("content-type")).toContain("text/event-stream");
  const frames = (text: string) => text.split("\n\n").filter((frame) => frame !== "");
  for (const frame of frames(enveloped.text)) {
    expect(frame).toMatch(/^data: \{"jsonrpc":"2\.0","id":7,"result":\{"(task|artifactUpdate|statusUpdate)":/);
  }
  const bare = await post("/message:stream", { message: user("hi") });
  for (const frame of frames(bare.text)) expect(frame).toMatch(/^data: \{"(task|artifactUpdate|statusUpdate)":/);
  const events = frames(bare.text).map((frame) => JSON.parse(frame.slice(6)));
  expect(events[0].task.status.state).toBe("TASK_STATE_WORKING");
  expect(events.at(-1).statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
  // Each text once, in artifacts alone; the first piece replaces, the others add.
  expect(events.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts[0].text ?? []).join("")).toBe(
    "Hello there.",
  );
  expect(
    events.filter(({ artifactUpdate }) => artifactUpdate).map(({ artifactUpdate }) => artifactUpdate.append ?? false),
  ).toEqual(events.filter(({ artifactUpdate }) => artifactUpdate).map((_, index) => index > 0));
  expect(events.at(-1).statusUpdate.status).not.toHaveProperty("message");
});

test("a task has the fields of the protocol and no others", async () => {
  const task = await finished();
  expect(Object.keys(task).sort()).toEqual(["artifacts", "contextId", "history", "id", "status"]);
  expect(Object.keys(task.status).sort()).toEqual(["state", "timestamp"]);
  expect(task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(task.artifacts).toEqual([{ artifactId: expect.any(String), name: "answer", parts: [{ text: "Done." }] }]);
});

test("historyLength: none for 0, the newest for a number, all without one", async () => {
  stage.model.script(call("ask_city"), say("Rome."));
  const asked = (await rpc("SendMessage", { message: user("Ask.") })).body.result.task;
  await rpc("SendMessage", { message: user("Rome", { taskId: asked.id }), configuration: { historyLength: 0 } });
  const length = async (historyLength?: number) =>
    (await rpc("GetTask", { id: asked.id, historyLength })).body.result.history?.length ?? 0;
  expect(await length()).toBe(3);
  expect(await length(0)).toBe(0);
  expect(await length(2)).toBe(2);
  expect(await length(9)).toBe(3);
  expect((await rpc("GetTask", { id: asked.id, historyLength: -1 })).body.error.code).toBe(-32602);
  expect((await ask(`/tasks/${asked.id}?historyLength=1`)).body.history).toHaveLength(1);
  expect((await ask(`/tasks/${asked.id}?historyLength=x`)).status).toBe(400);
});

test("without a key, and with one that is not known, it is 401, and WWW-Authenticate says how", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" } });
  for (const [path, method] of [
    ["/a2a", "POST"],
    ["/message:send", "POST"],
    ["/tasks/x", "GET"],
  ] as const) {
    const answer = await ask(path, method === "POST" ? { method, body } : { method }, null);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toContain("Bearer");
    expect(answer.body.error.message).toContain("API key");
    expect(answer.body.error.code).toBeDefined();
  }
});

test("paths may have their colon encoded", async () => {
  stage.model.script(say("Hello."));
  const { status, body } = await post("/message%3Asend", { message: user("hi") });
  expect(status).toBe(200);
  expect((await ask(`/tasks/${body.task.id}%3Acancel`, { method: "POST" })).status).toBe(400);
});

test("the extended card needs a key, and names the tools", async () => {
  const modern = (await rpc("GetExtendedAgentCard", undefined)).body.result;
  expect(modern.skills.map(({ id }: Json) => id)).toContain("weather");
  const rest = await ask("/extendedAgentCard");
  expect(rest.body).toEqual(modern);
  expect((await ask("/extendedAgentCard", {}, null)).status).toBe(401);
  const old = (await rpc("agent/getAuthenticatedExtendedCard", {})).body.result;
  expect(old).toMatchObject({
    protocolVersion: "0.3",
    preferredTransport: "JSONRPC",
    url: modern.supportedInterfaces[2].url,
  });
  expect((await ask("/v1/card")).body.skills).toEqual(modern.skills);
});

test("in 0.3 a message without `blocking` waits for its task, and a stream that ends with a question is final", async () => {
  stage.model.script(say("Done."), call("ask_city"));
  const { body } = await rpc("message/send", { message: said("hi"), configuration: {} });
  expect(body.result).toMatchObject({ kind: "task", status: { state: "completed" } });
  const stream = await rpc("message/stream", { message: said("ask") });
  const last = JSON.parse(stream.text.trim().split("\n\n").at(-1)?.slice(6) ?? "");
  expect(last.result).toMatchObject({ kind: "status-update", final: true, status: { state: "input-required" } });
  expect(last.result.status.message.parts[1]).toMatchObject({ kind: "data", data: { kind: "question" } });
});

test("in 0.3 params of any form are -32602, not a fault of ours", async () => {
  for (const message of [
    null,
    5,
    "x",
    {},
    { role: "user" },
    said("x", { parts: [null] }),
    said("x", { parts: [{ kind: "file", file: null }] }),
  ]) {
    const { status, body } = await rpc("message/send", { message });
    expect(status).toBe(200);
    expect(body.error.code).toBe(-32602);
  }
});

test("every path has its answer under an agent's name, too", async () => {
  stage.model.script(say("Bold."), say("Bold."));
  const body = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: user("hi") } };
  const { task } = (await post("/agents/bold/a2a", body)).body.result;
  expect((await ask(`/agents/bold/tasks/${task.id}`)).body).toEqual(task);
  expect((await ask(`/tasks/${task.id}`)).status).toBe(404);
  expect((await post("/agents/bold/message:send", { message: user("hi") })).body.task.artifacts[0].parts).toEqual([
    { text: "Bold." },
  ]);
});
