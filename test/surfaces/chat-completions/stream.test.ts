import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { transcriptHash } from "../../../src/session/transcripts.ts";
import type { TurnEventBody } from "../../../src/values/turn-event.ts";
import { door, type Play, plays, refusal, says, USAGE } from "../../http/stand-ins.ts";

const ASK = { model: "assistant", messages: [{ role: "user", content: "convert 3 miles" }], stream: true };
const model = "stand-in/model";

/** A turn that thinks, searches, is given a tool by the runtime, calls it and answers in two steps. */
const TURN: TurnEventBody[] = [
  { type: "started", turn: "turn_1", conversation: "c", agent: "assistant" },
  { type: "request", step: 1, verdict: { prefix: "break", cause: "mode" }, model },
  { type: "answering", step: 1 },
  { type: "thinking", step: 1, text: "Units" },
  { type: "thinking", step: 1, text: "?" },
  { type: "text", step: 1, text: "Let me " },
  { type: "text", step: 1, text: "look." },
  { type: "call", step: 1, id: "call_1", name: "tool_search", input: '{"query":"miles"}', host: false },
  { type: "result", id: "call_1", name: "tool_search", status: "ok", text: "Loaded convert." },
  { type: "call", step: 1, id: "call_2", name: "tool_search", input: '{"query":"clock"}', host: true },
  { type: "request", step: 2, verdict: { prefix: "extends" }, model },
  { type: "answering", step: 2 },
  { type: "call", step: 2, id: "call_3", name: "convert", input: '{\n "value": 3\n}', host: false },
  { type: "progress", id: "call_3", text: "asking\nthe table" },
  { type: "result", id: "call_3", name: "convert", status: "error", text: "no" },
  { type: "request", step: 3, verdict: { prefix: "extends" }, model },
  { type: "text", step: 3, text: "4.83 km" },
  { type: "done", stop: "end", usage: USAGE },
];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a stream", () => {
  it("is the frames that the strictest clients take, in their order", async () => {
    const response = await door({ play: plays(...TURN) }).chat({ ...ASK, stream_options: { include_usage: true } });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const head = '"id":"chatcmpl-turn_1","object":"chat.completion.chunk","created":1800000000,"model":"assistant"';
    const delta = (json: string, finish = "null") =>
      `data: {${head},"choices":[{"index":0,"delta":${json},"finish_reason":${finish}}]}\n\n`;
    expect(await response.text()).toBe(
      [
        delta('{"role":"assistant","content":""}'),
        delta('{"reasoning_content":"Units"}'),
        delta('{"reasoning_content":"?"}'),
        delta('{"content":"Let me "}'),
        delta('{"content":"look."}'),
        delta('{"reasoning_content":"\\n→ tool_search({\\"query\\":\\"miles\\"})\\n"}'),
        delta('{"reasoning_content":"→ tool_search({\\"query\\":\\"clock\\"}) by the runtime\\n"}'),
        delta('{"reasoning_content":"→ convert({ \\"value\\": 3 })\\n"}'),
        delta('{"reasoning_content":"· asking the table\\n"}'),
        delta('{"content":"\\n\\n4.83 km"}'),
        delta("{}", '"stop"'),
        `data: {${head},"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,` +
          '"prompt_tokens_details":{"cached_tokens":90}}}\n\n',
        "data: [DONE]\n\n",
      ].join(""),
    );
  });

  it("has no usage unless asked for it", async () => {
    const text = await (await door().chat({ ...ASK, stream_options: null })).text();
    expect(text).not.toContain("usage");
    expect(text.endsWith('"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')).toBe(true);
  });

  it.each([
    ["length", "length"],
    ["refusal", "content_filter"],
    ["stopped", "stop"],
  ] as const)("that ends by %s says %s", async (stop, reason) => {
    const play = plays({ type: "answering", step: 1 }, { type: "done", stop, usage: USAGE, detail: "because" });
    const text = await (await door({ play }).chat(ASK)).text();
    expect(text.match(/"finish_reason":"\w+"/g)).toEqual([`"finish_reason":"${reason}"`]);
  });

  it("tells of a failure on the way as an error frame", async () => {
    const play = plays(
      { type: "answering", step: 1 },
      { type: "text", step: 1, text: "Half" },
      {
        type: "failed",
        usage: USAGE,
        failure: {
          reason: "provider",
          status: 529,
          type: "overloaded_error",
          message: "Overloaded.",
          detail: "secret",
        },
      },
    );
    const { chat, logged, saved } = door({ play });
    const response = await chat(ASK);
    expect(response.status).toBe(200);
    const frames = (await response.text()).split("\n\n");
    expect(frames.slice(-3)).toEqual([
      'data: {"error":{"message":"Overloaded.","type":"provider_error","param":null,"code":"overloaded_error"}}',
      "data: [DONE]",
      "",
    ]);
    expect(logged).toContainEqual({ event: "stream failed", fields: expect.objectContaining({ detail: "secret" }) });
    expect(saved.size).toBe(0);
  });

  it("is an HTTP status when it fails before the model answers", async () => {
    const play = plays(
      { type: "started", turn: "turn_1", conversation: "c", agent: "assistant" },
      { type: "failed", usage: USAGE, failure: { reason: "busy", retryAfter: 9, message: "Another turn is running." } },
    );
    const response = await door({ play }).chat(ASK, { "x-conversation-id": "mine" });
    expect(response.headers.get("retry-after")).toBe("9");
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(response.headers.get("x-conversation-id")).toBe("mine");
    expect(await refusal(response)).toMatchObject({ status: 409, code: "conflict" });
  });

  it("sends its headers after 10 s at most, and a comment every 15 s while nothing comes", async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const silent: Play = (emit) => {
      emit({ type: "started", turn: "turn_1", conversation: "c", agent: "assistant" });
      start();
    };
    let response: Response | undefined;
    void door({ play: silent })
      .chat(ASK)
      .then((value) => {
        response = value;
      });
    await started;
    await vi.advanceTimersByTimeAsync(9_999);
    expect(response).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(response?.status).toBe(200);
    expect(response?.headers.get("x-holdfast-prefix")).toBeNull();

    const reader = response?.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('"role":"assistant"');
    await vi.advanceTimersByTimeAsync(30_000);
    expect((await reader?.read())?.value).toBe(": keepalive\n\n");
    expect((await reader?.read())?.value).toBe(": keepalive\n\n");
  });

  it("goes on to the end of the turn and to its transcript when its reader leaves", async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const play: Play = async (emit, request) => {
      emit({ type: "answering", step: 1 });
      emit({ type: "text", step: 1, text: "Half" });
      await left;
      emit({ type: "text", step: 1, text: " of it" });
      emit({ type: "done", stop: request.onDisconnect === "cancel" ? "stopped" : "end", usage: USAGE });
    };
    const { chat, saved, settled } = door({ play });
    const response = await chat(ASK, { "x-conversation-id": "mine" });
    await response.body?.cancel();
    leave();
    await settled();
    const hash = transcriptHash({
      system: null,
      messages: [
        { role: "user", text: "convert 3 miles", attachments: [] },
        { role: "assistant", text: "Half of it", attachments: [] },
      ],
    });
    expect([...saved]).toEqual([[`alice/assistant/${hash}`, "mine"]]);
  });
});

describe("the headers", () => {
  it.each([
    [{ prefix: "extends" }, "extends"],
    [{ prefix: "first" }, "first"],
    [{ prefix: "break", cause: "compaction" }, "break; cause=compaction"],
  ] as const)("say of %o %s, streamed or not", async (verdict, value) => {
    const play = plays({ type: "request", step: 1, verdict, model }, ...TURN.slice(2));
    for (const stream of [true, false]) {
      const response = await door({ play }).chat({ ...ASK, stream });
      expect(response.headers.get("x-holdfast-prefix")).toBe(value);
      await response.text();
    }
  });

  it("name the conversation and the settings that the model refuses", async () => {
    const response = await door().chat({ ...ASK, temperature: 0.5, top_p: 0.9 });
    expect(response.headers.get("x-conversation-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(response.headers.get("x-holdfast-ignored")).toBe("temperature");
    const without = await door().chat({ ...ASK, top_p: 0.9 }, { "x-conversation-id": "mine" });
    expect(without.headers.get("x-conversation-id")).toBe("mine");
    expect(without.headers.get("x-holdfast-ignored")).toBeNull();
  });
});

describe("an answer that is not streamed", () => {
  it("is one object of the same content", async () => {
    const response = await door({ play: plays(...TURN) }).chat({ ...ASK, stream: false });
    expect(await response.json()).toEqual({
      id: "chatcmpl-turn_1",
      object: "chat.completion",
      created: 1_800_000_000,
      model: "assistant",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "Let me look.\n\n4.83 km",
            refusal: null,
            reasoning_content:
              'Units?\n→ tool_search({"query":"miles"})\n→ tool_search({"query":"clock"}) by the runtime\n' +
              '→ convert({ "value": 3 })\n· asking the table\n',
          },
          finish_reason: "stop",
          logprobs: null,
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 5,
        total_tokens: 105,
        prompt_tokens_details: { cached_tokens: 90 },
      },
    });
  });

  it("has no reasoning where there was none", async () => {
    const { choices } = await (await door({ play: says("Hi.") }).chat({ ...ASK, stream: false })).json<{
      choices: unknown[];
    }>();
    expect(choices[0]).toMatchObject({ message: { content: "Hi." } });
    expect(JSON.stringify(choices)).not.toContain("reasoning");
  });

  it("is an HTTP status whenever the turn fails", async () => {
    const failure = { reason: "limit", limit: "steps", message: "The agent took 50 steps." } as const;
    const play = plays(...TURN.slice(0, -1), { type: "failed", usage: USAGE, failure });
    expect(await refusal(await door({ play }).chat({ ...ASK, stream: false }))).toMatchObject({
      status: 422,
      code: "steps_limit",
      message: "The agent took 50 steps.",
    });
  });
});

describe("the models", () => {
  it("are the agents, and under an agent's path that one", async () => {
    const { fetch } = door();
    for (const path of ["/v1/models", "/models"]) {
      const response = await fetch(path);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(await response.json()).toMatchObject({ object: "list", data: [{ id: "assistant" }, { id: "other" }] });
    }
    const { data } = await (await fetch("/agents/other/v1/models")).json<{ data: unknown[] }>();
    expect(data).toEqual([{ id: "other", object: "model", created: 1_767_225_600, owned_by: "holdfast" }]);
    expect(await (await fetch("/v1/models/other")).json()).toMatchObject({ id: "other" });
    expect(await refusal(await fetch("/v1/models/none"))).toMatchObject({ status: 404, code: "model_not_found" });
  });
});
