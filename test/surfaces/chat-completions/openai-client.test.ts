import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import OpenAI, { APIError } from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { ALICE, agent, door, type Play, plays, type Stand, says, USAGE } from "../../http/stand-ins.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

/** The official client, over HTTP, before a door. */
async function client(stand: Stand = {}) {
  const behind = door(stand);
  const server = createServer(async (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.on("close", () => left.abort());
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) {
      if (typeof value === "string") headers.set(name, value);
    }
    const { method = "GET", url = "/" } = incoming;
    const init = { method, headers, signal: left.signal, ...(method === "POST" ? { body: await text(incoming) } : {}) };
    const response = await behind.fetch(url, init);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    for await (const chunk of response.body ?? []) outgoing.write(chunk);
    outgoing.end();
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const openai = new OpenAI({ apiKey: ALICE, baseURL: `http://127.0.0.1:${port}/v1` });
  return { openai, behind };
}

const ask: { model: string; messages: OpenAI.ChatCompletionMessageParam[] } = {
  model: "assistant",
  messages: [{ role: "user", content: "convert 3 miles" }],
};

/** Thinks, calls a tool and answers in two steps. */
const busy: Play = plays(
  { type: "request", step: 1, verdict: { prefix: "first" }, model: "stand-in/model" },
  { type: "answering", step: 1 },
  { type: "thinking", step: 1, text: "Units." },
  { type: "text", step: 1, text: "Looking." },
  { type: "call", step: 1, id: "call_1", name: "convert", input: "{}", host: false },
  { type: "result", id: "call_1", name: "convert", status: "ok", text: "4.83" },
  { type: "text", step: 2, text: "4.83 km" },
  { type: "done", stop: "end", usage: USAGE },
);

describe("the openai client", () => {
  it("lists the agents", async () => {
    const { openai } = await client();
    const ids = [];
    for await (const model of openai.models.list()) ids.push(model.id);
    expect(ids).toEqual(["assistant", "other"]);
  });

  it("reads an answer that is not streamed", async () => {
    const { openai } = await client({ play: busy });
    const { data, response } = await openai.chat.completions.create({ ...ask }).withResponse();
    expect(data.choices[0]?.message.content).toBe("Looking.\n\n4.83 km");
    expect(data.choices[0]?.message.tool_calls).toBeUndefined();
    expect(data.usage?.prompt_tokens_details?.cached_tokens).toBe(90);
    expect(response.headers.get("x-holdfast-prefix")).toBe("first");
  });

  it("reads a stream by its helper", async () => {
    const { openai } = await client({ play: busy });
    const stream = openai.chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    const pieces: string[] = [];
    stream.on("content", (delta) => pieces.push(delta));
    expect(await stream.finalContent()).toBe("Looking.\n\n4.83 km");
    expect(pieces).toEqual(["Looking.", "\n\n4.83 km"]);
    expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 });
    expect((await stream.finalChatCompletion()).choices[0]?.finish_reason).toBe("stop");
  });

  it("reads a stream chunk by chunk, the reasoning too", async () => {
    const { openai } = await client({ play: busy });
    let reasoning = "";
    for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true })) {
      const delta: OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: string } =
        chunk.choices[0]?.delta ?? {};
      reasoning += delta.reasoning_content ?? "";
    }
    expect(reasoning).toBe("Units.\n→ convert({})\n");
  });

  it("throws what went wrong in the middle of a stream", async () => {
    const failure = { reason: "provider", status: 529, type: "overloaded_error", message: "Overloaded." } as const;
    const play = plays({ type: "answering", step: 1 }, { type: "failed", usage: USAGE, failure });
    const { openai } = await client({ play });
    const thrown = await openai.chat.completions
      .stream({ ...ask })
      .finalContent()
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(APIError);
    expect(String(thrown)).toContain("Overloaded.");
  });

  it("is told of a session that is busy once, and does not try again", async () => {
    const failure = { reason: "busy", retryAfter: 5, message: "Another turn is running." } as const;
    const { openai, behind } = await client({ play: plays({ type: "failed", usage: USAGE, failure }) });
    await expect(openai.chat.completions.create({ ...ask, stream: true })).rejects.toMatchObject({
      status: 409,
      code: "conflict",
      message: expect.stringContaining("Another turn is running."),
    });
    expect(behind.turns).toHaveLength(1);
  });

  it("is told which field was wrong, and that a key is", async () => {
    const { openai } = await client();
    await expect(openai.chat.completions.create({ ...ask, n: 2 })).rejects.toMatchObject({ status: 400, param: "n" });
    await expect(openai.withOptions({ apiKey: "wrong" }).models.list()).rejects.toMatchObject({
      status: 401,
      code: "invalid_api_key",
    });
  });

  it("stops the turn by hanging up", async () => {
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    const endless: Play = (emit, { signal }) => {
      emit({ type: "answering", step: 1 });
      emit({ type: "text", step: 1, text: "On" });
      signal?.addEventListener("abort", () => resolve());
    };
    const { openai } = await client({ play: endless });
    for await (const chunk of await openai.chat.completions.create({ ...ask, stream: true })) {
      if (chunk.choices[0]?.delta.content === "On") break;
    }
    await aborted;
  });

  it("holds a conversation of six turns by resending its history, with no header of its own", async () => {
    let turn = 0;
    const { openai, behind } = await client({
      agents: [agent("assistant")],
      play: (emit, request) => {
        turn += 1;
        return says(`Answer ${turn}.`)(emit, request);
      },
    });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "system", content: "Be brief." }];
    const conversations = new Set<string | null>();
    for (let n = 1; n <= 6; n++) {
      messages.push({ role: "user", content: `Question ${n}?` });
      const { data, response } = await openai.chat.completions.create({ model: "assistant", messages }).withResponse();
      conversations.add(response.headers.get("x-conversation-id"));
      const message = data.choices[0]?.message;
      expect(message?.content).toBe(`Answer ${n}.`);
      if (message) messages.push(message);
    }
    expect(conversations.size).toBe(1);
    expect(behind.turns.map(({ conversation }) => conversation.minted)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
