import { expect, test } from "vitest";
import { first, long, marked, tools, usage } from "./cached-requests.ts";
import { say } from "./index.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: () => say("ok") });

test.for([
  ["the model", { model: "claude-opus-4-7" }],
  ["an inline tool", { tools: [s.tool("look", { description: "Other." }), ...tools.slice(1)] }],
  ["the key order of a tool", { tools: [{ input_schema: { type: "object" }, name: "look" }] }],
  ["the system prompt", { system: "Be brief." }],
  ["the tool choice", { tool_choice: { type: "none" } }],
  ["parallel calls", { tool_choice: { type: "auto", disable_parallel_tool_use: true } }],
  ["thinking", { thinking: { type: "adaptive" } }],
  ["effort", { output_config: { effort: "low" } }],
  ["web search", { tools: [...tools, { type: "web_search_20250305", name: "web_search" }] }],
  [
    "an image",
    { messages: [s.user(long, { type: "image", source: { type: "url", url: "https://example.com/a" } }, marked("b"))] },
  ],
] as const)("Another value of %s misses", async ([, more]) => {
  await usage(emulator(), first());
  expect(await usage(emulator(), first(more))).toMatchObject({ read: 0, ideal: 0 });
});

test("Tools and system stay cached where only the messages' scope changes", async () => {
  const system = [marked(long)];
  const cold = await usage(emulator(), s.request({ tools, system }));
  const warm = await usage(emulator(), s.request({ tools, system, tool_choice: { type: "none" } }));
  expect(warm.read).toBe(cold.written);
});

test("Deferred definitions come, go, change and move without a miss", async () => {
  const cold = await usage(emulator(), first());
  const others = [
    s.tool("new", { defer_loading: true }),
    s.tool("look"),
    s.tool("later", { defer_loading: true, description: "Other." }),
  ];
  expect((await usage(emulator(), first({ tools: others }))).read).toBe(cold.written);
  expect((await usage(emulator(), first({ tools: others.slice(1, 2) }))).read).toBe(cold.written);
});

const loading = (later: s.Body) =>
  s.request({
    tools: [s.tool("look"), s.tool("later", { defer_loading: true, ...later })],
    messages: [
      s.user(marked(long)),
      s.assistant(s.use("toolu_1", "look")),
      s.user(s.result("toolu_1", [s.reference("later")], s.marker)),
    ],
  });

test("A reference costs the definition it stands for", async () => {
  await usage(emulator(), first());
  const small = await usage(emulator(), loading({ description: "Short." }));
  emulator().reset();
  await usage(emulator(), first());
  const large = await usage(emulator(), loading({ description: s.words(500) }));
  expect(large.written - small.written).toBeGreaterThan(490);
  expect(large.read).toBe(small.read);
});

test("Another definition of a tool that was referred to misses from the reference on", async () => {
  const cold = await usage(emulator(), first());
  const loaded = await usage(emulator(), loading({}));
  expect((await usage(emulator(), loading({}))).read).toBe(loaded.read + loaded.written);
  const changed = await usage(emulator(), loading({ description: "Other." }));
  expect(changed.read).toBe(cold.written);
});

test("A turn-scoped system message leaves the prompt when the next user message comes", async () => {
  const note = { ...s.system("Only now."), clear_at: "next_user_message" };
  await usage(emulator(), s.request({ messages: [s.user(marked(long)), note] }));
  const { rest } = await usage(
    emulator(),
    s.request({ messages: [s.user(marked(long)), note, s.assistant("ok"), s.user("b")] }),
  );
  const without = await usage(
    emulator(),
    s.request({ messages: [s.user(marked(long)), s.assistant("ok"), s.user("b")] }),
  );
  expect(rest).toBe(without.rest);
});
