import { connect } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { allStored } from "../all-stored.ts";
import { say } from "../emulators/anthropic/index.ts";
import { KEYS, type Stage, startStage } from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  // No lease runs out here, so that only requests write.
  stage = await startStage({ HOLDFAST_LEASE_SECONDS: "3600" });
});
afterAll(() => stage.close());
interface Bad {
  readonly what: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly status: number;
  readonly code?: string | null;
  readonly param?: string | null;
  readonly says: string;
}

const hi = { role: "user", content: "hi" };
const nested = (depth: number): unknown => (depth === 0 ? "x" : [nested(depth - 1)]);
const image = (bytes: number) => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${"A".repeat(bytes)}` },
});

const BAD: Bad[] = [
  { what: "no JSON", body: "{", status: 400, says: "The body is not JSON" },
  { what: "an empty body", body: "", status: 400, says: "The body is not JSON" },
  {
    what: "a wrong type",
    body: { messages: [hi, { role: "user", content: [{ type: "text", text: 5 }] }] },
    ...{ status: 400, param: "messages[1].content[0].text", says: "expected string" },
  },
  {
    what: "a setting of a wrong type",
    body: { messages: [hi], temperature: "hot" },
    status: 400,
    param: "temperature",
    says: "expected number",
  },
  { what: "messages that are none", body: { messages: "hi" }, status: 400, param: "messages", says: "expected array" },
  {
    what: "too deep a body",
    body: { messages: [hi], metadata: nested(70) },
    status: 400,
    says: "nested deeper than 64",
  },
  {
    what: "too large a body",
    body: { messages: [hi], metadata: { x: "x".repeat(4 << 20) } },
    status: 413,
    code: "request_too_large",
    says: "larger than 4 MB",
  },
  {
    what: "too large a body with an image",
    body: { messages: [{ role: "user", content: [image(22 << 20)] }] },
    ...{ status: 413, code: "request_too_large", says: "larger than 20 MB" },
  },
  {
    what: "too long a text",
    body: { messages: [{ ...hi, content: "x".repeat(300_000) }] },
    status: 400,
    param: "messages[0].content[0]",
    says: "200 KB",
  },
  {
    what: "an unknown agent",
    body: { model: "nobody", messages: [hi] },
    status: 404,
    code: "model_not_found",
    param: "model",
    says: '"nobody"',
  },
  {
    what: "an unknown agent in the path",
    path: "/agents/nobody/v1/chat/completions",
    body: { messages: [hi] },
    status: 404,
    code: "model_not_found",
    says: '"nobody"',
  },
  {
    what: "no user message",
    body: { messages: [{ role: "system", content: "x" }] },
    status: 400,
    param: "messages",
    says: "there is no user message",
  },
  {
    what: "an empty user message",
    body: { messages: [{ ...hi, content: "" }] },
    status: 400,
    param: "messages[0].content",
    says: "empty",
  },
  {
    what: "an answer as the last message",
    body: { messages: [hi, { role: "assistant", content: "yes" }] },
    status: 400,
    param: "messages[1].role",
    says: "must be the user's",
  },
  {
    what: "a setting that is not supported",
    body: { messages: [hi], n: 2 },
    status: 400,
    code: "unsupported_parameter",
    param: "n",
    says: "n must be 1",
  },
  {
    what: "tools of the client",
    body: { messages: [hi], tools: [{}] },
    status: 400,
    code: "unsupported_parameter",
    param: "tools",
    says: "the agent has its own",
  },
  {
    what: "a bad id in the header",
    headers: { "x-conversation-id": "a/b" },
    body: { messages: [hi] },
    status: 400,
    param: "x-conversation-id",
    says: "conversation id",
  },
  {
    what: "too long an id",
    headers: { "x-conversation-id": "a".repeat(129) },
    body: { messages: [hi] },
    status: 400,
    param: "x-conversation-id",
    says: "1 to 128",
  },
  {
    what: "a bad id in the body",
    headers: { "x-conversation-id": "" },
    body: { messages: [hi], metadata: { conversation_id: "ü" } },
    status: 400,
    param: "metadata.conversation_id",
    says: "conversation id",
  },
  {
    what: "a bad id in the path",
    method: "GET",
    path: "/api/sessions/a%20b",
    status: 400,
    param: "id",
    says: "conversation id",
  },
  {
    what: "an image that is no image",
    body: {
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,***" } }] }],
    },
    status: 400,
    param: "messages[0].content[0].image_url.url",
    says: "base64",
  },
  {
    what: "an image that is something else",
    body: {
      messages: [
        { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,R0lGODlhAQAB" } }] },
      ],
    },
    status: 400,
    param: "messages[0].content[0].image_url.url",
    says: "says image/png",
  },
  {
    what: "too large a body that only looks like an image",
    body: { messages: [hi], metadata: { url: `data:image/png;base64,${"A".repeat(5 << 20)}` } },
    ...{ status: 413, code: "request_too_large", says: "larger than 4 MB" },
  },
  {
    what: "a missing key",
    headers: { authorization: "" },
    body: { messages: [hi] },
    status: 401,
    code: "invalid_api_key",
    says: "An API key is missing",
  },
  {
    what: "a wrong key",
    headers: { authorization: "Bearer wrong" },
    body: { messages: [hi] },
    status: 401,
    code: "invalid_api_key",
    says: "not known here",
  },
  {
    what: "a model that can't be used here",
    body: { model: "unkeyed", messages: [hi] },
    status: 501,
    code: "model_not_supported",
    says: "nowhere/model",
  },
  {
    what: "an unknown path",
    method: "GET",
    path: "/v2/models",
    status: 404,
    code: "not_found",
    says: "There is nothing at GET /v2/models",
  },
  {
    what: "a wrong method",
    method: "GET",
    path: "/v1/chat/completions",
    status: 405,
    code: "method_not_allowed",
    says: "POST is",
  },
  {
    what: "an unknown session to read",
    method: "GET",
    path: "/api/sessions/unknown",
    status: 404,
    code: "not_found",
    says: '"unknown"',
  },
  {
    what: "an unknown session's entries",
    method: "GET",
    path: "/api/sessions/unknown/entries",
    status: 404,
    code: "not_found",
    says: '"unknown"',
  },
  {
    what: "an unknown session to stop",
    method: "POST",
    path: "/api/sessions/unknown/stop",
    status: 404,
    code: "not_found",
    says: '"unknown"',
  },
  {
    what: "an unknown session to delete",
    method: "DELETE",
    path: "/api/sessions/unknown",
    status: 404,
    code: "not_found",
    says: '"unknown"',
  },
];

test.each(BAD)("$what: $status, what is wrong and where, and nothing stored", async (bad) => {
  const { path = "/v1/chat/completions", method = "POST", headers = {}, body, status } = bad;
  const before = await allStored(stage.workerd);
  const response = await stage.workerd.fetch(path, {
    method,
    headers: {
      authorization: `Bearer ${KEYS.ann}`,
      "content-type": "application/json",
      "x-conversation-id": "bad",
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as {
    error: { message: string; param: string | null; code: string | null };
  };
  expect(response.status).toBe(status);
  expect(error.message).toContain(bad.says);
  if (bad.param !== undefined) expect(error.param).toBe(bad.param);
  if (bad.code !== undefined) expect(error.code).toBe(bad.code);
  if (status === 401) expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/);
  if (status === 501) expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await allStored(stage.workerd)).toEqual(before);
  expect(stage.takeRequests()).toEqual([]);
});

test("a body that is refused and then never ends is answered within some seconds", async () => {
  const socket = connect(Number(stage.workerd.url.port), "127.0.0.1");
  const answer = new Promise<string>((resolve) => socket.setEncoding("utf8").once("data", resolve));
  const begun = Date.now();
  const head = ["POST /v1/chat/completions HTTP/1.1", "host: localhost", `authorization: Bearer ${KEYS.ann}`];
  socket.write([...head, "content-length: 1000000", "", "[".repeat(100)].join("\r\n"));
  expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(Date.now() - begun).toBeLessThan(6_000);
  socket.destroy();
});

test("nothing of what callers and providers said is in the log", async () => {
  // A stage of its own, since what it stores would be counted by another test.
  const own = await startStage();
  onTestFinished(() => own.close());
  const said = "sesame-opens-nothing";
  const bodies: unknown[] = [
    said,
    { model: said, messages: [hi] },
    { messages: [{ role: said }] },
    { messages: [hi], conversation: `${said} ?` },
  ];
  for (const body of bodies) await own.send("POST", "/v1/chat/completions", "ann", JSON.stringify(body));
  for (const stream of [false, true]) {
    own.model.fail({ kind: "http", status: 400, type: "invalid_request_error", message: said, headers: {} });
    expect(JSON.stringify((await own.say(null, said, { body: { stream } })).error)).toContain(said);
  }
  await vi.waitFor(() => {
    const logs = own.workerd.logs.join("\n");
    expect(logs.match(/"event":"turn failed"/g)).toHaveLength(2);
    expect(logs).toContain('"reason":"model_not_found"');
    expect(logs).not.toContain(said);
  });
});

test("an agent whose model can't be used keeps no other from working, and what works is stored", async () => {
  const before = await allStored(stage.workerd);
  stage.model.script(say("Hello."));
  expect((await stage.say("good", "hi", { agent: "unkeyed" })).status).toBe(501);
  expect(await allStored(stage.workerd)).toEqual(before);
  expect((await stage.say("good", "hi")).text).toBe("Hello.");
  expect(stage.takeRequests()).toHaveLength(1);
  expect((await stage.get("/agents/unkeyed/api/sessions/good")).status).toBe(404);
  const count = ({ sessions = 0 }) => sessions;
  // The copy in D1 is made behind the answer. It has to be there before another test counts.
  await vi.waitFor(async () => expect(count(await allStored(stage.workerd))).toBe(count(before) + 1));
});
