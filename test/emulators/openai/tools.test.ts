import { expect, test } from "vitest";
import { say } from "./index.ts";
import { acceptsAll, expectRefusal, refusesAll, useAcceptingEmulator } from "./refusals.ts";
import * as s from "./support.ts";

const emulator = useAcceptingEmulator();
const hosted = { type: "tool_search" };
const deferred = s.tool("later", { defer_loading: true });
const tools = (...list: s.Body[]) => s.request({ tools: list });
const strict = (parameters: object) => tools(s.tool("look", { strict: true, parameters }));
const closed = { type: "object", additionalProperties: false };
const open = (context: string, reason: string) =>
  `Invalid schema for function 'look': In context=(${context}), ${reason}`;
const parameters = { param: "tools[0].parameters", code: "invalid_function_parameters" };

refusesAll(emulator, [
  {
    rule: "E-O04",
    what: "a bad name",
    body: tools(s.tool("a b")),
    message:
      "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    param: "tools[0].name",
    code: "invalid_value",
  },
  {
    rule: "E-O04",
    what: "a name twice",
    body: tools(s.tool("a"), s.tool("a")),
    message: "Duplicate tool name 'a'.",
    param: "tools[1].name",
    code: "invalid_value",
  },
  {
    rule: "E-O04",
    what: "a schema of no object",
    body: tools(s.tool("look", { parameters: { type: "string" } })),
    message: `Invalid schema for function 'look': schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.`,
    ...parameters,
  },
  {
    rule: "E-O04",
    what: "a schema without a type",
    body: tools(s.tool("look", { parameters: {} })),
    message: `Invalid schema for function 'look': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
    ...parameters,
  },
  {
    rule: "E-O04",
    what: "a strict schema that is open",
    body: strict({ type: "object", properties: {} }),
    message: open("", "'additionalProperties' is required to be supplied and to be false."),
    ...parameters,
  },
  {
    rule: "E-O04",
    what: "a strict schema with an optional property",
    body: strict({ ...closed, properties: { p: { type: "string" } }, required: [] }),
    message: open(
      "",
      "'required' is required to be supplied and to be an array including every key in properties. Missing 'p'.",
    ),
    ...parameters,
  },
  {
    rule: "E-O04",
    what: "a strict schema that is open inside",
    body: strict({
      ...closed,
      properties: { p: { type: "array", items: { type: "object", properties: {} } } },
      required: ["p"],
    }),
    message: open("'properties', 'p', 'items'", "'additionalProperties' is required to be supplied and to be false."),
    ...parameters,
  },
  {
    rule: "E-O04",
    what: "a strict schema with what cannot be enforced",
    body: strict({ ...closed, properties: { p: { oneOf: [] } }, required: ["p"] }),
    message: open("'properties', 'p'", "'oneOf' is not permitted."),
    ...parameters,
  },
  {
    rule: "E-O04",
    what: "a strict property without a type",
    body: strict({ ...closed, properties: { p: {} }, required: ["p"] }),
    message: open("'properties', 'p'", "schema must have a 'type' key."),
    ...parameters,
  },
  {
    rule: "E-O04",
    what: "a bad name among what an item loads",
    body: s.request({ tools: [s.clientSearch], input: [s.searched("a"), s.loads("a", s.tool("a b"))] }),
    message:
      "Invalid 'input[1].tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    param: "input[1].tools[0].name",
    code: "invalid_value",
  },
  {
    rule: "E-O04",
    what: "too many tools on an older model",
    body: s.request({ model: "gpt-5.2", tools: Array.from({ length: 129 }, (_, n) => s.tool(`t${n}`)) }),
    message:
      "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
    param: "tools",
    code: "array_above_max_length",
  },
  {
    rule: "E-O05",
    what: "a deferred tool without a search",
    body: tools(deferred),
    message: "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search.",
    param: "tools",
  },
  {
    rule: "E-O05",
    what: "a deferred tool in a namespace without a search",
    body: tools({ type: "namespace", name: "crm", description: "The CRM.", tools: [deferred] }),
    message: "Invalid Value: 'tools.defer_loading'. Deferred tools require tools.tool_search.",
    param: "tools",
  },
  {
    rule: "E-O06",
    what: "a client's search without a description",
    body: tools({ ...s.clientSearch, description: null }),
    message: "Missing required parameter: 'tools[0].description'.",
    param: "tools[0].description",
    code: "missing_required_parameter",
  },
  {
    rule: "E-O02",
    what: "a namespace without a description (E-O07)",
    body: tools({ type: "namespace", name: "crm", tools: [] }),
    message: "Missing required parameter: 'tools[0].description'.",
    param: "tools[0].description",
    code: "missing_required_parameter",
  },
  {
    rule: "E-O02",
    what: "additional tools of another role (E-O08)",
    body: s.request({ input: [s.user("Hi"), { ...s.adds(s.tool("a")), role: "user" }] }),
    message: "Invalid value: 'user'. Supported values are: 'developer'.",
    param: "input[1].role",
    code: "invalid_value",
  },
  {
    rule: "E-O02",
    what: "a choice that is not there",
    body: s.request({ tools: [s.tool("look")], tool_choice: { type: "function", name: "none" } }),
    message: "Tool choice 'none' not found in 'tools' parameter.",
    param: "tool_choice",
  },
]);

acceptsAll(emulator, [
  ["more than 128 tools on a model with tool search", tools(...Array.from({ length: 129 }, (_, n) => s.tool(`t${n}`)))],
  ["a strict schema that is closed", strict({ ...closed, properties: { p: { type: "string" } }, required: ["p"] })],
  ["an open schema that is not strict", tools(s.tool("look", { parameters: { type: "object" }, strict: false }))],
  ["a deferred tool beside the server's search", tools(hosted, deferred)],
  ["E-O09: tool search on a model without it", s.request({ model: "gpt-5", tools: [hosted, deferred] })],
  [
    "additional tools that are deferred in the list as well",
    s.request({ tools: [hosted, deferred], input: [s.user("Hi"), s.adds(s.tool("later"))] }),
  ],
]);

const limited = s.useEmulator({ answer: () => say("ok"), maxTools: 2 });

test("The number of tools can be limited on every model", () =>
  expectRefusal(limited(), {
    rule: "E-O04",
    what: "three tools",
    body: tools(s.tool("a"), s.tool("b"), s.tool("c")),
    message:
      "Invalid 'tools': array too long. Expected an array with maximum length 2, but got an array with length 3 instead.",
    param: "tools",
    code: "array_above_max_length",
  }));

test("On models without tool search what is deferred can be called at once, and is answered so", async () => {
  const response = await s.post(emulator(), s.request({ model: "gpt-5", tools: [hosted, deferred] }));
  expect(emulator().requests.at(-1)?.visible).toEqual(["later"]);
  expect(await response.json()).toMatchObject({ tools: [hosted, { name: "later", defer_loading: null }] });
});

test("allowed_tools narrows what can be called, and the search has to be named as well", async () => {
  const body = (allowed: s.Body[]) =>
    s.request({
      tools: [s.tool("a"), s.tool("b"), s.clientSearch],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: allowed },
    });
  await s.post(emulator(), body([{ type: "function", name: "b" }]));
  await s.post(emulator(), body([{ type: "function", name: "a" }, { type: "tool_search" }]));
  expect(emulator().requests.map(({ visible }) => visible)).toEqual([["b"], ["tool_search", "a"]]);
});
