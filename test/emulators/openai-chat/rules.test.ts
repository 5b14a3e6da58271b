import { describe, expect, test } from "vitest";
import { say } from "./index.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: () => say("ok"), models: ["acme-1", "gpt-5"] });
const strictTool = (parameters: object) => ({ tools: [s.tool("look", { strict: true, parameters })] });

interface Broken {
  readonly rule: string;
  readonly what: string;
  readonly body: s.Body;
  readonly message: string;
  readonly param: string | null;
  readonly code?: string;
  readonly status?: number;
}

const unanswered =
  "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ";
const orphan =
  "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";

const broken: readonly Broken[] = [
  {
    rule: "E-C02",
    what: "an unknown field",
    body: s.request({ reasoning: {} }),
    message: "Unknown parameter: 'reasoning'.",
    param: "reasoning",
    code: "unknown_parameter",
  },
  {
    rule: "E-C02",
    what: "an unknown field of a message",
    body: s.request({ messages: [{ ...s.user("Hi"), id: "1" }] }),
    message: "Unknown parameter: 'messages[0].id'.",
    param: "messages[0].id",
    code: "unknown_parameter",
  },
  {
    rule: "E-C02",
    what: "no messages",
    body: { model: "acme-1" },
    message: "Missing required parameter: 'messages'.",
    param: "messages",
    code: "missing_required_parameter",
  },
  {
    rule: "E-C02",
    what: "an unknown role",
    body: s.request({ messages: [{ role: "robot", content: "Hi" }] }),
    message: "Invalid value: 'robot'. Supported values are: 'system', 'developer', 'user', 'assistant', and 'tool'.",
    param: "messages[0].role",
    code: "invalid_value",
  },
  {
    rule: "E-C02",
    what: "an empty list of tools",
    body: s.request({ tools: [] }),
    message: "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    param: "tools",
    code: "empty_array",
  },
  {
    rule: "E-C02",
    what: "too many tools",
    body: s.request({ tools: Array.from({ length: 129 }, (_, n) => s.tool(`t${n}`)) }),
    message:
      "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
    param: "tools",
    code: "array_above_max_length",
  },
  {
    rule: "E-C02",
    what: "a call id that is too long",
    body: s.request({ messages: [s.user("Hi"), s.calls("c".repeat(41)), s.answer("c".repeat(41))] }),
    message:
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
    param: "messages[1].tool_calls[0].id",
    code: "string_above_max_length",
  },
  {
    rule: "E-C03",
    what: "a model that is not there",
    body: s.request({ model: "none" }),
    message: "The model `none` does not exist or you do not have access to it.",
    param: null,
    code: "model_not_found",
    status: 404,
  },
  {
    rule: "E-C04",
    what: "tool_choice without tools",
    body: s.request({ tool_choice: "none" }),
    message: "'tool_choice' is only allowed when 'tools' are specified.",
    param: "tool_choice",
  },
  {
    rule: "E-C05",
    what: "a bad name",
    body: s.request({ tools: [s.tool("a b")] }),
    message:
      "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    param: "tools[0].function.name",
    code: "invalid_value",
  },
  {
    rule: "E-C05",
    what: "a name twice",
    body: s.request({ tools: [s.tool("a"), s.tool("a")] }),
    message: "Duplicate tool name 'a'.",
    param: "tools[1].function.name",
    code: "invalid_value",
  },
  {
    rule: "E-C05",
    what: "a strict schema that is open",
    body: s.request(strictTool({ type: "object", properties: {} })),
    message:
      "Invalid schema for function 'look': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    param: "tools[0].function.parameters",
    code: "invalid_function_parameters",
  },
  {
    rule: "E-C06",
    what: "an assistant that says nothing",
    body: s.request({ messages: [s.user("Hi"), s.assistant(null), s.user("Well?")] }),
    message: "Invalid value for 'content': expected a string, got null.",
    param: "messages.[1].content",
  },
  {
    rule: "E-C07",
    what: "a call without an answer",
    body: s.request({ messages: [s.user("Hi"), s.calls("a", "b"), s.answer("a"), s.user("Well?")] }),
    message: `${unanswered}b`,
    param: "messages.[3].role",
  },
  {
    rule: "E-C07",
    what: "calls at the end",
    body: s.request({ messages: [s.user("Hi"), s.calls("a", "b")] }),
    message: `${unanswered}a, b`,
    param: "messages.[2].role",
  },
  {
    rule: "E-C07",
    what: "an answer that comes too late",
    body: s.request({ messages: [s.user("Hi"), s.calls("a"), s.user("Well?"), s.answer("a")] }),
    message: `${unanswered}a`,
    param: "messages.[2].role",
  },
  {
    rule: "E-C08",
    what: "an answer to nothing",
    body: s.request({ messages: [s.user("Hi"), s.answer("a")] }),
    message: orphan,
    param: "messages.[1].role",
  },
  {
    rule: "E-C08",
    what: "an answer twice",
    body: s.request({ messages: [s.user("Hi"), s.calls("a"), s.answer("a"), s.answer("a")] }),
    message: orphan,
    param: "messages.[3].role",
  },
  {
    rule: "E-C08",
    what: "two calls of one id",
    body: s.request({ messages: [s.user("Hi"), s.calls("a", "a"), s.answer("a")] }),
    message: "Duplicate tool call ids.",
    param: "messages.[1].tool_calls",
  },
  {
    rule: "E-C10",
    what: "max_tokens on a reasoning model",
    body: s.request({ model: "gpt-5", max_tokens: 10 }),
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    param: "max_tokens",
    code: "unsupported_parameter",
  },
];

describe("a request with one mistake", () => {
  test.for(broken)(
    "is refused by $rule for $what",
    async ({ rule, body, message, param, code = null, status = 400 }) => {
      const response = await s.post(emulator(), body);
      const error = { message, type: "invalid_request_error", param, code };
      expect(await response.json()).toEqual({ error });
      expect([response.status, emulator().requests.at(-1)?.error?.rule]).toEqual([status, rule]);
    },
  );
});

const fine: readonly (readonly [string, s.Body])[] = [
  ["answers in any order", s.request({ messages: [s.user("Hi"), s.calls("a", "b"), s.answer("b"), s.answer("a")] })],
  ["text beside calls", s.request({ messages: [s.user("Hi"), { ...s.calls("a"), content: "Well" }, s.answer("a")] })],
  [
    "an id that comes again in a later message",
    s.request({ messages: [s.calls("a"), s.answer("a"), s.calls("a"), s.answer("a")] }),
  ],
  ["calls of tools that are not offered", s.request({ messages: [s.user("Hi"), s.calls("a"), s.answer("a")] })],
];

test.for([...fine])("What one might think wrong is accepted: %s", async ([, body]) => {
  const response = await s.post(emulator(), body);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
});

test("Without a key there is no answer", async () => {
  const response = await fetch(`${emulator().url}/chat/completions`, { method: "POST", body: "{}" });
  expect([response.status, emulator().requests.at(-1)?.error?.rule]).toEqual([401, "E-C01"]);
});

describe("a server that parses the arguments of earlier calls", () => {
  const parsing = s.useEmulator({ answer: () => say("ok"), callArguments: "json" });
  const withArguments = (text: string) => {
    const tool_calls = [{ id: "a", type: "function", function: { name: "look", arguments: text } }];
    return s.request({ messages: [s.user("Hi"), s.assistant(null, { tool_calls }), s.answer("a")] });
  };

  test.for(['{"a": tru', "[]", ""])("refuses %s by E-C09", async (text) => {
    expect((await s.post(parsing(), withArguments(text))).status).toBe(400);
    expect(parsing().requests.at(-1)?.error?.rule).toBe("E-C09");
  });

  test("takes an object, and the others take anything", async () => {
    expect((await s.post(parsing(), withArguments('{"a":1}'))).status).toBe(200);
    expect((await s.post(emulator(), withArguments('{"a": tru'))).status).toBe(200);
  });
});
