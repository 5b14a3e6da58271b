import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { ALICE, agent, door, KEYS, plays, refusal, says, USAGE } from "./stand-ins.ts";

const SECRET = "what nobody else should read";

describe("a path", () => {
  it("that is not there is 404 in the form OpenAI clients read", async () => {
    expect(await refusal(await door().fetch("/v1/nothing"))).toEqual({
      status: 404,
      message: "There is nothing at GET /v1/nothing.",
      type: "invalid_request_error",
      param: null,
      code: "not_found",
    });
  });

  it.each([
    ["GET", "/v1/chat/completions", "POST"],
    ["POST", "/v1/models", "GET"],
    ["PUT", "/api/sessions/abc", "GET, PATCH, DELETE"],
    ["GET", "/agents/other/api/sessions/abc/stop", "POST"],
  ])("takes no %s at %s", async (method, path, allowed) => {
    const response = await door().fetch(path, { method });
    expect(response.headers.get("allow")).toBe(allowed);
    expect(await refusal(response)).toMatchObject({ status: 405, code: "method_not_allowed" });
  });

  it("of an agent that is not there says so", async () => {
    expect(await refusal(await door().fetch("/agents/nobody/v1/models"))).toMatchObject({
      status: 404,
      message: 'There is no agent "nobody".',
    });
  });

  it("works in another app that the door is mounted in", async () => {
    const outer = new Hono().route("/ai", door().app);
    const init = { headers: { authorization: `Bearer ${ALICE}` } };
    const env = { HOLDFAST_API_KEYS: KEYS };
    expect((await outer.request("/ai/agents/other/v1/models", init, env)).status).toBe(200);
    expect((await outer.request("/ai/v1/chat/completions", init, env)).status).toBe(405);
    expect(await refusal(await outer.request("/ai/nothing", init, env))).toMatchObject({
      status: 404,
      code: "not_found",
    });
  });
});

describe("the request id", () => {
  it("is the caller's, or one of ours, and stands on refusals too", async () => {
    const { fetch } = door();
    const given = await fetch("/v1/models", { headers: { "x-request-id": "req-1" } });
    expect(given.headers.get("x-request-id")).toBe("req-1");
    const minted = await fetch("/v1/models", { headers: { authorization: "none", "x-request-id": "a\tb" } });
    expect(minted.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("the log", () => {
  it("says who asked for what and how it went, without a word of what was said", async () => {
    const { chat, logged } = door({ play: says(SECRET) });
    await chat({ model: "other", messages: [{ role: "user", content: SECRET }] }, { "x-request-id": "req-1" });
    expect(logged).toEqual([
      {
        event: "request",
        fields: {
          level: "info",
          requestId: "req-1",
          method: "POST",
          path: "/v1/chat/completions",
          status: 200,
          ms: expect.any(Number),
          owner: "alice",
          agent: "other",
        },
      },
    ]);
  });

  const said = { role: "user", content: SECRET };
  const url = (url: string) => [{ type: "image_url", image_url: { url } }];
  it.each<[string, unknown, object]>([
    ["that is no JSON", SECRET, { reason: "bad_request", status: 400 }],
    ["with a wrong role", { messages: [{ ...said, role: SECRET }] }, { param: "messages[0].role" }],
    ["for another model", { model: SECRET, messages: [said] }, { reason: "model_not_found", param: "model" }],
    ["with an id that is none", { messages: [said], conversation: SECRET }, { param: "conversation" }],
    ["with an unknown setting", { messages: [said], reasoning_effort: SECRET }, { param: "reasoning_effort" }],
    ["with an image of another type", { messages: [{ ...said, content: url(`data:${SECRET};base64,AAAA`) }] }, {}],
  ])("does not repeat a request %s: it says what is wrong and where", async (_, body, fields) => {
    const { chat, logged } = door();
    expect((await chat(body, { "x-request-id": "req-1" })).status).toBeLessThan(500);
    expect(logged.map(({ event }) => event)).toEqual(["request refused", "request"]);
    expect(logged[0]?.fields).toMatchObject({ requestId: "req-1", type: "invalid_request_error", ...fields });
    expect(JSON.stringify(logged)).not.toContain(SECRET.slice(0, 8));
  });

  it.each([false, true])("does not repeat what a provider said (in mid-answer: %s)", async (begun) => {
    const failure = { reason: "provider", status: 400, type: "invalid_request_error", message: SECRET } as const;
    const play = plays(...(begun ? ([{ type: "answering", step: 1 }] as const) : []), {
      type: "failed",
      usage: USAGE,
      failure: { ...failure, detail: "request req_1" },
    });
    const { chat, logged } = door({ play });
    const response = await chat({ messages: [{ role: "user", content: "hi" }], stream: true });
    expect(await response.text()).toContain(SECRET);
    const line = logged.find(({ event }) => event === (begun ? "stream failed" : "request refused"));
    expect(line?.fields).toMatchObject({
      level: "error",
      reason: "provider",
      status: 502,
      type: "provider_error",
      code: "invalid_request_error",
      detail: "request req_1",
    });
    expect(JSON.stringify(logged)).not.toContain(SECRET);
  });

  it("holds what went wrong inside, which the caller does not see", async () => {
    const broken = async () => {
      throw new Error("D1 said no");
    };
    const { fetch, logged } = door({ deps: { listSessions: broken } });
    expect(await refusal(await fetch("/api/sessions"))).toEqual({
      status: 500,
      message: "Something went wrong inside the runtime.",
      type: "server_error",
      param: null,
      code: "internal_error",
    });
    expect(logged[0]).toMatchObject({
      event: "request refused",
      fields: { detail: expect.stringContaining("D1 said no") },
    });
  });
});

it("needs an agent", () => {
  expect(() => door({ agents: [] })).toThrow("at least one agent");
  expect(() => door({ agents: [agent("a")] })).not.toThrow();
});
