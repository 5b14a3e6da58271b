import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Stage, startStage } from "../../e2e/chat.ts";
import { call, say } from "../../emulators/anthropic/index.ts";
import { clientOf, FLAVOURS, message, request, send } from "./clients.ts";

/** News as they arrived. */
interface News {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly body: any;
}

const arrived: News[] = [];
const takers: ((news: News) => void)[] = [];
/** Statuses of the next answers; then 200. */
const answers: number[] = [];
const server = createServer(async (incoming, response) => {
  let text = "";
  for await (const chunk of incoming) text += chunk;
  const news = { path: incoming.url ?? "", headers: incoming.headers, body: JSON.parse(text) };
  const taker = takers.shift();
  if (taker) taker(news);
  else arrived.push(news);
  const status = answers.shift() ?? 200;
  response.writeHead(status, status === 302 ? { location: "http://169.254.169.254/" } : {}).end();
});
const next = async () => arrived.shift() ?? new Promise<News>((resolve) => takers.push(resolve));

let url = "";
let stage: Stage;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`;
  stage = await startStage({ HOLDFAST_ALLOW_LOOPBACK: "1" }, { entry: "test/surfaces/a2a/worker.ts" });
});
afterAll(async () => {
  await stage.close();
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  stage.model.reset();
  arrived.length = 0;
});

const config = (taskId: string, more: object = {}) => ({
  tenant: "",
  taskId,
  id: "",
  url: `${url}/news`,
  token: "",
  authentication: undefined,
  ...more,
});

describe.for(FLAVOURS)("With the SDK's client in $version over $binding", (flavour) => {
  test("a configuration is kept, listed, read and deleted", async () => {
    const client = await clientOf(stage, flavour);
    stage.model.script(say("Done."));
    const { id: taskId } = await send(client, message("go"));
    const made = await client.createTaskPushNotificationConfig(config(taskId, { id: "mine", token: "t" }));
    expect(made).toMatchObject({ taskId, id: "mine", url: `${url}/news`, token: "t" });
    expect(await client.getTaskPushNotificationConfig({ tenant: "", taskId, id: "mine" })).toMatchObject(made);
    const list = async () => {
      const listed = await client.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 0, pageToken: "" });
      return listed.configs.map(({ id }) => id);
    };
    expect(await list()).toEqual(["mine"]);
    await client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id: "mine" });
    expect(await list()).toEqual([]);
    await expect(client.getTaskPushNotificationConfig({ tenant: "", taskId, id: "mine" })).rejects.toThrow();
  });

  test("a task's news go where its message said, in the version that was spoken", async () => {
    const client = await clientOf(stage, flavour);
    stage.model.script(call("ask_city"), say("Rome."));
    const asked = message("go");
    const push = config("", { token: "secret-token", authentication: { scheme: "Bearer", credentials: "secret" } });
    const with_ = request(asked);
    const result = await client.sendMessage({
      ...with_,
      configuration: { ...with_.configuration, taskPushNotificationConfig: push },
    });
    if (!("artifacts" in result)) throw new Error("no task");
    const { headers, body } = await next();
    expect(headers.authorization).toBe("Bearer secret");
    expect(headers["x-a2a-notification-token"]).toBe("secret-token");
    if (flavour.version === "1.0") {
      expect(headers["content-type"]).toBe("application/a2a+json");
      expect(body.task).toMatchObject({ id: result.id, status: { state: "TASK_STATE_INPUT_REQUIRED" } });
    } else {
      expect(headers["content-type"]).toBe("application/json");
      expect(body).toMatchObject({ kind: "task", id: result.id, status: { state: "input-required" } });
    }
    await send(client, message("Rome", { taskId: result.id, contextId: result.contextId }));
    const last = (await next()).body;
    expect((last.task ?? last).artifacts.at(-1).parts[0].text).toBe("Rome.");
  });
});

test("news that are not taken are told again, later, until they are", async () => {
  const client = await clientOf(stage);
  stage.model.script(call("ask_city"), say("Oslo."));
  const { id: taskId, contextId } = await send(client, message("go"));
  await client.createTaskPushNotificationConfig(config(taskId));
  // Sent on to an internal address, which counts as not taken.
  answers.push(302);
  await send(client, message("Oslo", { taskId, contextId }));
  const tries = [await next(), await next()];
  for (const { body } of tries) expect(body.task).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
}, 20_000);

describe("A configuration is refused, and nothing of it stored,", () => {
  test.for<[name: string, more: object]>([
    ["whose address is internal", { url: "http://169.254.169.254/latest" }],
    ["whose address is internal in another spelling", { url: "https://[::ffff:10.0.0.1]/" }],
    ["that sends secrets over http", { url: "http://example.com/" }],
    ["that is no web address", { url: "file:///etc/passwd" }],
    ["that carries a password", { url: "https://a:b@example.com/" }],
    ["without an address", { url: "" }],
    [
      "whose credentials hold a header of their own",
      { authentication: { scheme: "Bearer", credentials: "a\r\nX-Evil: 1" } },
    ],
    ["whose scheme does", { authentication: { scheme: "Bearer\r\nX-Evil: 1", credentials: "a" } }],
    ["whose token does", { token: "a\nb" }],
    ["with an endless token", { token: "x".repeat(5_000) }],
    ["with an odd id", { id: "../x" }],
  ])("%s", async ([_, more]) => {
    const client = await clientOf(stage);
    stage.model.script(say("Done."));
    const { id: taskId } = await send(client, message("go"));
    await expect(client.createTaskPushNotificationConfig(config(taskId, more))).rejects.toThrow();
    const listed = await client.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 0, pageToken: "" });
    expect(listed.configs).toEqual([]);
  });

  test("to this server itself", async () => {
    const client = await clientOf(stage);
    stage.model.script(say("Done."));
    const { id: taskId } = await send(client, message("go"));
    const own = config(taskId, { url: stage.workerd.url.href });
    await expect(client.createTaskPushNotificationConfig(own)).rejects.toThrow("this server itself");
  });

  test("and the message that brings it starts no task", async () => {
    const client = await clientOf(stage);
    const of = request(message("go"));
    const bad = { ...of.configuration, taskPushNotificationConfig: config("", { url: "http://10.0.0.1/" }) };
    await expect(client.sendMessage({ ...of, configuration: bad })).rejects.toThrow("internal address");
    expect(stage.model.requests).toEqual([]);
  });

  test("beyond ten of a task", async () => {
    const client = await clientOf(stage);
    stage.model.script(say("Done."));
    const { id: taskId } = await send(client, message("go"));
    for (let n = 0; n < 10; n++) await client.createTaskPushNotificationConfig(config(taskId, { id: `n${n}` }));
    await expect(client.createTaskPushNotificationConfig(config(taskId, { id: "n10" }))).rejects.toThrow("at most 10");
    await client.createTaskPushNotificationConfig(config(taskId, { id: "n9", token: "other" }));
    const other = await clientOf(stage, { who: "bob" });
    await expect(other.createTaskPushNotificationConfig(config(taskId))).rejects.toThrow("There is no task");
  });
});
