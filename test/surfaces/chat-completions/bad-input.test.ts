import { expect, it } from "vitest";
import { agent, door, refusal } from "../../http/stand-ins.ts";

const hi = { role: "user", content: "hi" };
const part = (part: object) => ({ messages: [{ role: "user", content: [part] }] });
const image = (url: string) => part({ type: "image_url", image_url: { url } });
const UNSUPPORTED = "unsupported_parameter";

/** What is sent; where the error says the fault is; a piece of what it says; its code. */
const BAD: [string, unknown, string | null, string, (string | null)?][] = [
  ["no JSON", "{", null, "The body is not JSON"],
  ["no object", "[]", null, "expected object"],
  ["no messages", {}, "messages", "expected array"],
  ["messages that are none", { messages: "hi" }, "messages", "expected array"],
  ["no message at all", { messages: [] }, "messages", "there is no user message"],
  ["no user message", { messages: [{ role: "system", content: "x" }] }, "messages", "there is no user message"],
  [
    "an answer as the last message",
    { messages: [hi, { role: "assistant", content: "yes" }] },
    "messages[1].role",
    "the last message must be the user's",
  ],
  ["an empty user message", { messages: [{ ...hi, content: " " }] }, "messages[0].content", "empty"],
  ["a role nobody has", { messages: [hi, { role: "robot", content: "x" }] }, "messages[1].role", "role is system"],
  ["content that is a number", { messages: [{ ...hi, content: 5 }] }, "messages[0].content", "text or a list of parts"],
  ["a part nobody knows", part({ type: "video" }), "messages[0].content[0].type", "text, image_url or file"],
  ["text that is none", part({ type: "text", text: 1 }), "messages[0].content[0].text", "expected string"],
  [
    "an image from a system",
    { messages: [{ role: "system", content: [{ type: "image_url" }] }, hi] },
    "messages[0].content[0].type",
    "of type text",
  ],
  [
    "audio",
    part({ type: "input_audio", input_audio: {} }),
    "messages[0].content[0]",
    "input_audio is not supported",
    UNSUPPORTED,
  ],
  ["an http image", image("http://pictures.example/a.png"), "messages[0].content[0].image_url.url", "https: URL"],
  ["an image that is no URL", image("a.png"), "messages[0].content[0].image_url.url", "https: URL"],
  [
    "an SVG",
    image("data:image/svg+xml;base64,AAAA"),
    "messages[0].content[0].image_url.url",
    '"image/svg+xml" is not supported',
  ],
  [
    "a data URL that is not base64",
    image("data:image/png,abc"),
    "messages[0].content[0].image_url.url",
    "must be in base64",
  ],
  ["broken base64", image("data:image/png;base64,***"), "messages[0].content[0].image_url.url", "valid base64"],
  ["an empty image", image("data:image/png;base64,"), "messages[0].content[0].image_url.url", "is empty"],
  [
    "an image that is a PDF",
    image(`data:image/png;base64,${btoa("%PDF-1.7")}`),
    "messages[0].content[0].image_url.url",
    "says image/png, and its content is something else",
  ],
  [
    "a PDF that is an image",
    part({ type: "file", file: { file_data: `data:application/pdf;base64,${btoa("GIF89a")}` } }),
    "messages[0].content[0].file.file_data",
    "says application/pdf, and its content is something else",
  ],
  [
    "a long URL",
    image(`https://pictures.example/${"a".repeat(8_192)}`),
    "messages[0].content[0].image_url.url",
    "8192 characters",
    "string_above_max_length",
  ],
  [
    "a long file name",
    part({
      type: "file",
      file: { filename: "f".repeat(256), file_data: `data:application/pdf;base64,${btoa("%PDF-")}` },
    }),
    "messages[0].content[0].file.filename",
    "<=255",
  ],
  [
    "a long answer",
    { messages: [hi, { role: "assistant", content: "x".repeat(1024 * 1024 + 1) }, hi] },
    "messages[1].content",
    "1024 KB",
    "string_above_max_length",
  ],
  [
    "a long answer in parts",
    { messages: [hi, { role: "assistant", content: Array(11).fill({ type: "text", text: "x".repeat(100_000) }) }, hi] },
    "messages[1].content",
    "1024 KB",
    "string_above_max_length",
  ],
  ["a long name of a model", { messages: [hi], model: "m".repeat(129) }, "model", "<=128"],
  ["a long stop text", { messages: [hi], stop: "s".repeat(1_001) }, "stop[0]", "<=1000"],
  [
    "a file by id",
    part({ type: "file", file: { file_id: "f" } }),
    "messages[0].content[0].file.file_data",
    "data: URL",
  ],
  [
    "a file that is no PDF",
    part({ type: "file", file: { file_data: "data:text/csv;base64,AAAA" } }),
    "messages[0].content[0].file.file_data",
    "application/pdf can be sent",
  ],
  [
    "a long text",
    { messages: [{ ...hi, content: "ü".repeat(150 * 1024) }] },
    "messages[0].content[0]",
    "200 KB",
    "string_above_max_length",
  ],
  ["many messages", { messages: Array(2_001).fill(hi) }, "messages", "at most 2000 messages"],
  ["tools", { messages: [hi], tools: [{}] }, "tools", "the agent has its own", UNSUPPORTED],
  ["functions", { messages: [hi], functions: [{}] }, "functions", "the agent has its own", UNSUPPORTED],
  ["two answers", { messages: [hi], n: 2 }, "n", "n must be 1", UNSUPPORTED],
  ["JSON output", { messages: [hi], response_format: { type: "json_object" } }, "response_format", "text", UNSUPPORTED],
  ["log probabilities", { messages: [hi], logprobs: true }, "logprobs", "not available", UNSUPPORTED],
  ["audio output", { messages: [hi], audio: { voice: "x" } }, "audio", "no audio", UNSUPPORTED],
  ["spoken output", { messages: [hi], modalities: ["text", "audio"] }, "modalities", "text is the only", UNSUPPORTED],
  ["a temperature in words", { messages: [hi], temperature: "hot" }, "temperature", "expected number"],
  ["no tokens", { messages: [hi], max_tokens: 0 }, "max_tokens", ">=1"],
  [
    "an effort nobody knows",
    { messages: [hi], reasoning_effort: "maximal" },
    "reasoning_effort",
    '"low"|"medium"|"high"',
  ],
  ["a model that is no name", { messages: [hi], model: 4 }, "model", "expected string"],
  ["a bad id in the body", { messages: [hi], conversation: "a b" }, "conversation", "a conversation id is"],
  [
    "a bad id in metadata",
    { messages: [hi], metadata: { conversation_id: "ü" } },
    "metadata.conversation_id",
    "a conversation id is",
  ],
  ["an id that is a number", { messages: [hi], conversation: 5 }, "conversation", "expected object"],
];

it.each(BAD)("%s is refused, and told where", async (_, body, param, message, code = null) => {
  const { chat, turns, saved } = door();
  const response = await chat(body);
  expect(await refusal(response)).toEqual({
    status: 400,
    type: "invalid_request_error",
    param,
    code,
    message: expect.stringContaining(message),
  });
  expect(turns).toEqual([]);
  expect(saved.size).toBe(0);
});

it("a body nested too deep is refused", async () => {
  const { chat } = door();
  expect(await refusal(await chat("[".repeat(1_000)))).toMatchObject({ status: 400 });
  expect(await refusal(await chat("[".repeat(100) + "]".repeat(100)))).toMatchObject({
    status: 400,
    message: "The body is nested deeper than 64 levels.",
  });
});

it("a body that is too large is refused", async () => {
  const { chat } = door();
  expect(await refusal(await chat(JSON.stringify("x".repeat(5 * 1024 * 1024))))).toMatchObject({
    status: 413,
    code: "request_too_large",
  });
});

it("a bad id in a header is refused, and told which header", async () => {
  const response = await door().chat({ messages: [hi] }, { "x-openwebui-chat-id": "a/b" });
  expect(await refusal(response)).toMatchObject({ status: 400, param: "x-openwebui-chat-id" });
});

it("an agent that is not there is refused, and told which there are", async () => {
  expect(await refusal(await door().chat({ model: "gpt-4", messages: [hi] }))).toMatchObject({
    status: 404,
    code: "model_not_found",
    param: "model",
    message: 'There is no model "gpt-4" here. There is: assistant, other.',
  });
});

it("an agent whose model can't be used is refused, and no other is", async () => {
  const { chat } = door({ agents: [agent("assistant"), agent("lost", "nowhere/model")] });
  const response = await chat({ model: "lost", messages: [hi] });
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await refusal(response)).toMatchObject({ status: 501, code: "model_not_supported" });
  expect((await chat({ model: "assistant", messages: [hi] })).status).toBe(200);
});

it("nothing of a refused request is kept, a key that is missing included", async () => {
  const { chat, turns } = door();
  expect((await chat({ messages: [hi] }, { authorization: "none" })).status).toBe(401);
  expect(turns).toEqual([]);
});
