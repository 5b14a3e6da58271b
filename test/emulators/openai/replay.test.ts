import { expect, test } from "vitest";
import { unseal } from "./encrypted.ts";
import * as e from "./index.ts";
import { acceptsAll, refusesAll, useAcceptingEmulator } from "./refusals.ts";
import * as s from "./support.ts";

const emulator = useAcceptingEmulator();
const tools = [s.tool("look"), s.clientSearch];
const input = (...items: s.Body[]) => s.request({ tools, input: items });
const later = s.tool("later");
const server = { type: "tool_search_call", execution: "server", call_id: null, arguments: {} };
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAABforeign==" };
const missing = (name: string) =>
  `Missing namespace for function_call '${name}'. It does not exist in the default namespace. Round-trip the model's function_call item with its namespace field included.`;

refusesAll(emulator, [
  {
    rule: "E-O10",
    what: "an output without its call",
    body: input(s.user("Hi"), s.output("call_X")),
    message: "No tool call found for function call output with call_id call_X.",
    param: "input",
  },
  {
    rule: "E-O10",
    what: "an output before its call",
    body: input(s.output("call_X"), s.use("call_X", "look")),
    message: "No tool call found for function call output with call_id call_X.",
    param: "input",
  },
  {
    rule: "E-O10",
    what: "a second output",
    body: input(s.use("call_X", "look"), s.output("call_X"), s.output("call_X")),
    message: "No tool call found for function call output with call_id call_X.",
    param: "input",
  },
  {
    rule: "E-O10",
    what: "a call without its output",
    body: input(s.use("call_X", "look"), s.use("call_Y", "look"), s.output("call_X"), s.user("Hi")),
    message: "No tool output found for function call call_Y.",
    param: "input",
  },
  {
    rule: "E-O10",
    what: "a call_id twice",
    body: input(s.use("call_X", "look"), s.output("call_X"), s.use("call_X", "look"), s.output("call_X")),
    message: "Duplicate tool call with call_id call_X.",
    param: "input",
  },
  {
    rule: "E-O11",
    what: "a search without anything",
    body: input(s.searched("call_X"), s.user("Hi")),
    message: "No tool output found for tool search call call_X.",
    param: "input",
  },
  {
    rule: "E-O11",
    what: "a search's output without its call",
    body: input(s.loads("call_X", later), s.user("Hi")),
    message: "No tool call found for tool search output with call_id call_X.",
    param: "input",
  },
  {
    rule: "E-O11",
    what: "a search's output that answers a function",
    body: input(s.use("call_X", "look"), s.loads("call_X", later)),
    message: "No tool call found for tool search output with call_id call_X.",
    param: "input",
  },
  {
    rule: "E-O02",
    what: "a client's search without call_id",
    body: input({ ...s.searched(""), call_id: null }),
    message: "Missing required parameter: 'input[0].call_id'.",
    param: "input[0].call_id",
    code: "missing_required_parameter",
  },
  {
    rule: "E-O13",
    what: "a call of what nobody knows",
    body: input(s.use("a", "unknown"), s.output("a")),
    message: missing("unknown"),
    param: "input",
  },
  {
    rule: "E-O13",
    what: "a call of what a search put into a namespace",
    body: input(s.searched("a"), s.loads("a", later), s.use("b", "later"), s.output("b")),
    message: missing("later"),
    param: "input",
  },
  {
    rule: "E-O13",
    what: "a call before what loads it",
    body: s.request({
      model: "gpt-5.6",
      tools,
      input: [s.use("b", "later"), s.output("b"), s.searched("a"), s.loads("a", later)],
    }),
    message: missing("later"),
    param: "input",
  },
  {
    rule: "E-O15",
    what: "encrypted content from elsewhere",
    body: input(reasoning, s.assistant("Hi"), s.user("Go on")),
    message:
      "The encrypted content gAAA...gn== could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    code: "invalid_encrypted_content",
  },
  {
    rule: "E-O16",
    what: "reasoning that is not stored",
    body: input({ ...reasoning, encrypted_content: null }, s.assistant("Hi"), s.user("Go on")),
    message:
      "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    param: "input",
    status: 404,
  },
  {
    rule: "E-O16",
    what: "a reference to nothing",
    body: s.request({ store: true, input: [{ id: "msg_1" }, s.user("Hi")] }),
    message: "Item with id 'msg_1' not found.",
    param: "input",
    status: 404,
  },
  {
    rule: "E-O16",
    what: "a response that is not there",
    body: s.request({ previous_response_id: "resp_X" }),
    message: "Previous response with id 'resp_X' not found.",
    param: "previous_response_id",
    code: "previous_response_not_found",
  },
  {
    rule: "E-O17",
    what: "a compaction that is asked for too early",
    body: input({ type: "compaction_trigger" }, s.user("Hi")),
    message: "The 'compaction_trigger' item must be the last item of 'input'.",
    param: "input[0]",
  },
  {
    rule: "E-O17",
    what: "a namespace in what is to be compacted",
    path: "/responses/compact",
    body: { model: "gpt-5.4", input: [s.use("a", "later", { namespace: "later" }), s.output("a")] },
    message: "Unknown parameter: 'input[0].namespace'.",
    param: "input[0].namespace",
    code: "unknown_parameter",
  },
  {
    rule: "E-O18",
    what: "boundaries on a model that takes none",
    body: s.request({ prompt_cache_options: { mode: "explicit" } }),
    message: "Unsupported parameter: 'prompt_cache_options' is not supported with this model.",
    param: "prompt_cache_options",
    code: "unsupported_parameter",
  },
  {
    rule: "E-O18",
    what: "five boundaries",
    body: s.request({
      model: "gpt-5.6",
      input: [
        s.user(
          Array.from({ length: 5 }, () => ({
            type: "input_text",
            text: "a",
            prompt_cache_breakpoint: { mode: "explicit" },
          })),
        ),
      ],
    }),
    message: "A maximum of 4 prompt cache breakpoints may be provided. Found 5.",
    param: "input",
  },
]);

acceptsAll(emulator, [
  [
    "outputs in any order, at any distance",
    input(s.use("a", "look"), s.use("b", "look"), s.output("b"), s.user("Hi"), s.output("a")),
  ],
  ["E-O12: a server's search alone", input(s.user("Hi"), server)],
  [
    "E-O12: a server's output alone",
    input(s.user("Hi"), { type: "tool_search_output", execution: "server", call_id: null, tools: [later] }),
  ],
  ["a function's output that answers a search", input(s.searched("a"), s.output("a", "Nothing found."))],
  [
    "E-O14: a call with its own namespace of what nobody loaded",
    input(s.use("a", "later", { namespace: "later" }), s.output("a")),
  ],
  [
    "a call with its namespace of what a search loaded",
    input(s.searched("a"), s.loads("a", later), s.use("b", "later", { namespace: "later" }), s.output("b")),
  ],
  [
    "a call of what is not offered, on a model without tool search",
    s.request({ model: "gpt-5", input: [s.use("a", "unknown"), s.output("a")] }),
  ],
  ["arguments that are no JSON", input(s.use("a", "look", { arguments: '{"a": tru' }), s.output("a"))],
]);

test("Reasoning has to stand before what the model made of it", async () => {
  emulator().script([e.think("Hmm"), e.call("look", {}, "a")]);
  const include = ["reasoning.encrypted_content"];
  const first = s.request({ tools, include });
  const { output }: { output: s.Body[] } = await (await s.post(emulator(), first)).json();
  const [thought = {}, called = {}] = output;
  const asks = async (...items: s.Body[]) => {
    const response = await s.post(emulator(), s.request({ tools, include, input: [s.user("Hello"), ...items] }));
    const { error }: { error?: { message: string } } = await response.json();
    return error?.message ?? response.status;
  };
  const alone = `Item '${thought.id}' of type 'reasoning' was provided without its required following item.`;
  expect(await asks(thought, called, s.output("a"))).toBe(200);
  expect(await asks(called, s.output("a"))).toBe(200);
  expect(await asks(thought, s.user("Well?"))).toBe(alone);
  expect(await asks(thought)).toBe(alone);
});

test("What was stored can be continued, and its calls answered", async () => {
  emulator().script(e.call("look", {}, "a"), e.say("Done."));
  const first = await s.post(emulator(), s.request({ store: true, tools }));
  const { id, output }: { id: string; output: { id: string }[] } = await first.json();
  const next = (more: s.Body) => s.post(emulator(), s.request({ tools, previous_response_id: id, ...more }));
  expect((await next({ input: [s.user("Well?")] })).status).toBe(400);
  expect((await next({ input: [s.output("a")] })).status).toBe(200);
  const referred = [{ type: "item_reference", id: output[0]?.id }, s.output("a")];
  expect((await s.post(emulator(), s.request({ tools, input: [s.user("Hello"), ...referred] }))).status).toBe(200);
});

test("What was not stored can't be continued", async () => {
  const { id }: { id: string } = await (await s.post(emulator(), s.request())).json();
  const response = await s.post(emulator(), s.request({ previous_response_id: id }));
  expect([response.status, emulator().requests.at(-1)?.error?.rule]).toEqual([400, "E-O16"]);
});

test("A compaction keeps what the user said, and can be sent back", async () => {
  const body = { model: "gpt-5.4", input: [s.user("Hello"), s.assistant("Hi")] };
  const compacted = await s.post(emulator(), body, { path: "/responses/compact" });
  const { output }: { output: s.Body[] } = await compacted.json();
  expect(output).toMatchObject([{ role: "user" }, { type: "compaction", encrypted_content: /^gAAAA/ }]);
  expect((await s.post(emulator(), s.request({ input: [...output, s.user("Go on")] }))).status).toBe(200);
});

const trigger = { type: "compaction_trigger" };

test("A trigger is answered by one compaction, which can be sent back and says which model made it", async () => {
  emulator().script(e.compact("So far: hello."));
  const asked = await s.post(emulator(), s.request({ input: [s.user("Hello"), s.assistant("Hi"), trigger] }));
  const { output, status }: { output: s.Body[]; status: string } = await asked.json();
  expect([status, output]).toEqual([
    "completed",
    [{ type: "compaction", id: expect.stringMatching(/^cmp_/), encrypted_content: expect.stringMatching(/^gAAAA/) }],
  ]);
  expect(unseal(String(output[0]?.encrypted_content))).toEqual({ model: "gpt-5.4", text: "So far: hello." });
  expect((await s.post(emulator(), s.request({ input: [...output, s.user("Go on")] }))).status).toBe(200);
});

test.for([
  ["compacts where nothing asks for it", [e.compact()], s.user("Hello")],
  ["answers a trigger in words", [e.say("Hi")], trigger],
  ["compacts twice", [e.compact(), e.compact()], trigger],
] as const)("A script that %s is a problem", async ([, answer, last]) => {
  emulator().script(answer);
  expect((await s.post(emulator(), s.request({ input: [s.user("Hello"), last] }))).status).toBe(500);
  expect(emulator().takeProblems()).toHaveLength(1);
});

test("What was loaded before a compaction can't be called behind it", async () => {
  emulator().script(e.compact());
  const loaded = [s.searched("a"), s.loads("a", later)];
  const asked = await s.post(emulator(), input(s.user("Hello"), ...loaded, trigger));
  const { output }: { output: s.Body[] } = await asked.json();
  await s.post(emulator(), input(...loaded, ...output, s.user("Go on")));
  await s.post(emulator(), input(...output, ...loaded, s.user("Go on")));
  expect(emulator().requests.map(({ visible }) => visible)).toEqual([
    ["tool_search", "look", "later"],
    ["tool_search", "look"],
    ["tool_search", "look", "later"],
  ]);
});

test("Tokens can be counted without an answer", async () => {
  const response = await s.post(
    emulator(),
    { model: "gpt-5.4", input: "word".repeat(100) },
    { path: "/responses/input_tokens" },
  );
  expect(await response.json()).toEqual({ object: "response.input_tokens", input_tokens: expect.any(Number) });
});
