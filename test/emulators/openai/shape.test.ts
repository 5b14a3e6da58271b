import { expect, test } from "vitest";
import { acceptsAll, refusesAll, useAcceptingEmulator } from "./refusals.ts";
import * as s from "./support.ts";

const emulator = useAcceptingEmulator();
const input = (...items: s.Body[]) => s.request({ input: items });

refusesAll(emulator, [
  {
    rule: "E-O02",
    what: "an unknown field",
    body: s.request({ messages: [] }),
    message: "Unknown parameter: 'messages'.",
    param: "messages",
    code: "unknown_parameter",
  },
  {
    rule: "E-O02",
    what: "an unknown field of a tool",
    body: s.request({ tools: [s.tool("look", { cache_control: {} })] }),
    message: "Unknown parameter: 'tools[0].cache_control'.",
    param: "tools[0].cache_control",
    code: "unknown_parameter",
  },
  {
    rule: "E-O02",
    what: "a missing field",
    body: input(s.use("a", "look", { arguments: undefined }), s.output("a")),
    message: "Missing required parameter: 'input[0].arguments'.",
    param: "input[0].arguments",
    code: "missing_required_parameter",
  },
  {
    rule: "E-O02",
    what: "no model",
    body: { input: "Hello" },
    message: "Missing required parameter: 'model'.",
    param: "model",
    code: "missing_required_parameter",
  },
  {
    rule: "E-O02",
    what: "an unknown type of content",
    body: input({ role: "assistant", content: [{ type: "input_text", text: "Hi" }] }),
    message: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    param: "input[0].content[0].type",
    code: "invalid_value",
  },
  {
    rule: "E-O02",
    what: "an unknown role",
    body: input({ role: "tool", content: "Hi" }),
    message: "Invalid value: 'tool'. Supported values are: 'user', 'system', 'developer', and 'assistant'.",
    param: "input[0].role",
    code: "invalid_value",
  },
  {
    rule: "E-O02",
    what: "a wrong kind",
    body: s.request({ store: "no" }),
    message: "Invalid type for 'store': expected a boolean, but got a string instead.",
    param: "store",
    code: "invalid_type",
  },
  {
    rule: "E-O02",
    what: "arguments that are no string",
    body: input(s.use("a", "look", { arguments: {} }), s.output("a")),
    message: "Invalid type for 'input[0].arguments': expected a string, but got an object instead.",
    param: "input[0].arguments",
    code: "invalid_type",
  },
  {
    rule: "E-O02",
    what: "a temperature below its range",
    body: s.request({ model: "gpt-4o", temperature: -1 }),
    message: "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
    param: "temperature",
    code: "decimal_below_min_value",
  },
  {
    rule: "E-O02",
    what: "too few tokens",
    body: s.request({ max_output_tokens: 8 }),
    message: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 8 instead.",
    param: "max_output_tokens",
    code: "integer_below_min_value",
  },
  {
    rule: "E-O02",
    what: "a long key",
    body: s.request({ prompt_cache_key: "k".repeat(65) }),
    message:
      "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    param: "prompt_cache_key",
    code: "string_above_max_length",
  },
  {
    rule: "E-O02",
    what: "nothing to answer",
    body: s.request({ input: [] }),
    message: "One of 'input' or 'previous_response_id' or 'prompt' or 'conversation' must be provided.",
    code: "missing_required_parameter",
  },
  {
    rule: "E-O03",
    what: "a model that does not exist",
    body: s.request({ model: "gpt-none" }),
    message: "The model `gpt-none` does not exist or you do not have access to it.",
    code: "model_not_found",
    status: 404,
  },
  {
    rule: "E-O02",
    what: "sampling on a model that takes none",
    body: s.request({ model: "gpt-5", temperature: 0.5 }),
    message: "Unsupported parameter: 'temperature' is not supported with this model.",
    param: "temperature",
    code: "unsupported_parameter",
  },
  {
    rule: "E-O02",
    what: "encrypted reasoning of a model that does not reason",
    body: s.request({ model: "gpt-4o", include: ["reasoning.encrypted_content"] }),
    message: "Encrypted content is not supported with this model.",
    param: "include",
  },
  {
    rule: "E-O02",
    what: "a prompt beyond the window",
    body: s.request({ model: "gpt-4", input: s.words(9000) }),
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    param: "input",
    code: "context_length_exceeded",
  },
  {
    rule: "E-O02",
    what: "a file of sound",
    body: input(s.user([{ type: "input_file", file_url: "https://example.org/sample.mp3" }])),
    message: "The file type you uploaded is not supported. Please try again with a pdf",
    param: "input",
    code: "unsupported_file",
  },
  {
    rule: "E-O02",
    what: "an id of another type of item",
    body: input({ ...s.assistant("Hi"), id: "rs_1" }, s.user("Go on")),
    message: "Invalid 'input[0].id': 'rs_1'. Expected an ID that begins with 'msg'.",
    param: "input[0].id",
    code: "invalid_value",
  },
  {
    rule: "E-O02",
    what: "an item twice",
    body: input({ ...s.assistant("Hi"), id: "msg_1" }, { ...s.assistant("Hi"), id: "msg_1" }, s.user("Go on")),
    message: "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
    param: "input",
  },
  {
    rule: "E-O02",
    what: "a long call_id",
    body: s.request({ tools: [s.tool("look")], input: [s.use("c".repeat(65), "look"), s.output("c".repeat(65))] }),
    message:
      "Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    param: "input[0].call_id",
    code: "string_above_max_length",
  },
]);

acceptsAll(emulator, [
  ["an input that is a string", s.request({ input: "Hello" })],
  ["a message without type", input({ role: "user", content: "Hello" })],
  ["an empty text", input(s.user(""))],
  ["a model with a date", s.request({ model: "gpt-5.4-2026-03-05" })],
  ["items without ids", input(s.assistant("Hi"), s.user("Go on"))],
  ["a cleared prompt, all fields null", s.request({ instructions: null, reasoning: null, temperature: null })],
]);

test("A body that is not JSON is a 400", async () => {
  const response = await s.post(emulator(), '{"model": "gpt-5.4", }');
  expect([response.status, emulator().requests.at(-1)?.error?.rule]).toEqual([400, "E-O02"]);
  expect(await response.json()).toMatchObject({ error: { message: /could not parse the JSON body/ } });
});

test("Only POST of the three operations is there", async () => {
  const response = await fetch(`${emulator().url}/responses`, { headers: s.headers });
  expect([response.status, await response.json()]).toMatchObject([404, { error: { message: /Invalid URL/ } }]);
});

test("Without the right key there is no answer", async () => {
  const closed = { authorization: "Bearer none" };
  const open = await s.post(emulator(), s.request(), { with: { "content-type": "application/json" } });
  expect([open.status, emulator().requests.at(-1)?.error?.rule]).toEqual([401, "E-O01"]);
  expect((await s.post(emulator(), s.request(), { with: closed })).status).toBe(200);
});

const guarded = s.useEmulator({ apiKey: "right" });

test("With a key of its own the emulator takes no other", async () => {
  const response = await s.post(guarded(), s.request());
  expect([response.status, await response.json()]).toMatchObject([401, { error: { code: "invalid_api_key" } }]);
});
