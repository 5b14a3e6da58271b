import { expect, test } from "vitest";
import { call, say, startAnthropicEmulator, think } from "./index.ts";
import { expectRefusal } from "./refusals.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: () => say("ok") });
const tools = [s.tool("look"), s.tool("later", { defer_loading: true })];

interface Turn {
  readonly body: s.Body;
  readonly messages: readonly s.Body[];
}

/** A first turn in which the model thinks and calls, and its answer as it came. */
async function thought(model: string, more: s.Body = {}): Promise<Turn & { assistant: s.Body; signature: string }> {
  const body = s.request({ model, tools, ...more });
  emulator().script([think("Let me see."), call("look", { a: 1 }, "toolu_1")]);
  const answer: unknown = await (await s.post(emulator(), body)).json();
  if (typeof answer !== "object" || answer === null || !("content" in answer) || !Array.isArray(answer.content)) {
    throw new Error("No answer.");
  }
  const signature = String(answer.content[0]?.signature);
  return { body, messages: [s.user("Hello")], assistant: { role: "assistant", content: answer.content }, signature };
}

const done = s.user(s.result("toolu_1"));
const altered = (signature: string) =>
  s.assistant({ type: "thinking", thinking: "Let me lie.", signature }, s.use("toolu_1", "look", { a: 1 }));
const elsewhere = (path: string) =>
  `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block". That setting requires the \`thinking-binding-controls-2026-08-01\` value in the \`anthropic-beta\` header.`;

async function status(body: s.Body, target = emulator()) {
  const response = await s.post(target, body);
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

test("Thinking that comes back unchanged is accepted, also by an emulator that was started again", async () => {
  const { body, assistant } = await thought("claude-opus-5-5");
  const next = { ...body, messages: [s.user("Hello"), assistant, done] };
  expect(await status(next)).toMatchObject({ status: 200 });
  const other = await startAnthropicEmulator({ answer: () => say("ok") });
  expect(await status(next, other)).toMatchObject({ status: 200 });
  await other.close();
});

test("Altered thinking of the last turn is refused (E-A32)", async () => {
  const { body, signature } = await thought("claude-opus-4-8");
  await expectRefusal(emulator(), {
    rule: "E-A32",
    what: "another text",
    body: { ...body, messages: [s.user("Hello"), altered(signature), done] },
    message:
      "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
  });
});

test("Altered thinking of an earlier turn is refused (E-A32)", async () => {
  const { body, signature } = await thought("claude-opus-4-8");
  await expectRefusal(emulator(), {
    rule: "E-A32",
    what: "another text",
    body: { ...body, messages: [s.user("Hello"), altered(signature), done, s.assistant("b"), s.user("c")] },
    message: "messages.1.content.0: Invalid `signature` in `thinking` block",
  });
});

const changes: [string, (turn: { assistant: s.Body }) => s.Body][] = [
  ["the system prompt", ({ assistant }) => ({ system: "New.", messages: [s.user("Hello"), assistant, done] })],
  [
    "an inline tool",
    ({ assistant }) => ({ tools: [s.tool("look", { strict: true })], messages: [s.user("Hello"), assistant, done] }),
  ],
  ["an earlier message", ({ assistant }) => ({ messages: [s.user("Hullo"), assistant, done] })],
];

test.for(changes)("On a model that binds thinking another value of %s is refused (E-A32)", async ([what, change]) => {
  const turn = await thought("claude-sonnet-5-5");
  const body = { ...turn.body, ...change(turn) };
  await expectRefusal(emulator(), { rule: "E-A32", what, body, message: elsewhere("messages.1.content.0") });
  expect(await status({ ...body, model: "claude-opus-5" })).toMatchObject({ status: 200 });
});

test("Bound thinking bears what may change: markers, deferred tools, effort, more messages", async () => {
  const { body, assistant } = await thought("claude-opus-5-5");
  const messages = [
    s.user({ type: "text", text: "Hello", ...s.marker }),
    assistant,
    done,
    s.assistant("b"),
    s.user("c"),
  ];
  const next = {
    ...body,
    messages,
    output_config: { effort: "low" },
    tools: [s.tool("look"), s.tool("new", { defer_loading: true })],
  };
  expect(await status(next)).toMatchObject({ status: 200 });
});

test("With drop_block bound thinking is dropped from the first mismatch on, and the answer says so", async () => {
  const { body, assistant } = await thought("claude-opus-5-5");
  const thinking = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
  const next = { ...body, thinking, system: "New.", messages: [s.user("Hello"), assistant, done] };
  expect(await status(next)).toMatchObject({
    status: 200,
    answer: {
      input_transformations: [
        { type: "thinking_dropped", path: "messages.1.content.0", reason: "prefix_binding_mismatch" },
      ],
    },
  });
});

test("Thinking from elsewhere is refused, unless the options believe it", async () => {
  const messages = [
    s.user("a"),
    s.assistant({ type: "thinking", thinking: "x", signature: "RWxzZQ==" }, "b"),
    s.user("c"),
  ];
  expect(await status(s.request({ messages }))).toMatchObject({ status: 400 });
  const other = await startAnthropicEmulator({ answer: () => say("ok"), signatures: "any" });
  expect(await status(s.request({ messages }), other)).toMatchObject({ status: 200 });
  await other.close();
});

test("A paused turn may be continued in the same message or in the next", async () => {
  const { body, assistant } = await thought("claude-opus-5-5");
  emulator().script([think("Further."), say("b")]);
  const second: unknown = (await status({ ...body, messages: [s.user("Hello"), assistant, done] })).answer;
  if (typeof second !== "object" || second === null || !("content" in second)) throw new Error("No answer.");
  const messages = [s.user("Hello"), assistant, done, { role: "assistant", content: second.content }, s.user("c")];
  expect(await status({ ...body, messages })).toMatchObject({ status: 200 });
});
