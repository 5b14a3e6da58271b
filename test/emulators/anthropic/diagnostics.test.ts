import { expect, test } from "vitest";
import { say } from "./index.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: () => say("ok") });
const base = { tools: [s.tool("look")], system: "Be kind.", messages: [s.user("Hello")] };
const grown = { ...base, messages: [...base.messages, s.assistant("ok"), s.user("And?")] };

/** Asks why the second request missed, given the first. */
async function reason(first: s.Body, second: s.Body, previous?: string) {
  await (await s.post(emulator(), s.request(first))).text();
  const previous_message_id = previous ?? emulator().requests.at(-1)?.messageId;
  const response = await s.post(emulator(), s.request({ ...second, diagnostics: { previous_message_id } }));
  const answer: unknown = await response.json();
  return answer;
}

const missed = (type: string) => ({
  diagnostics: { cache_miss_reason: { type, cache_missed_input_tokens: expect.any(Number) } },
});

test("A request that extends the one before misses nothing", async () => {
  expect(await reason(base, grown)).toMatchObject({ diagnostics: null });
});

test.for([
  ["model_changed", { ...grown, model: "claude-opus-5" }],
  ["tools_changed", { ...grown, tools: [s.tool("see")] }],
  ["tools_changed", { ...grown, tools: [...base.tools, s.tool("see")] }],
  ["system_changed", { ...grown, system: "Be brief." }],
  ["system_changed", { ...grown, system: undefined }],
  ["messages_changed", { ...base, messages: [s.user("Hi")] }],
  ["messages_changed", { ...grown, tool_choice: { type: "none" } }],
] as const)("A difference is named: %s", async ([type, second]) => {
  expect(await reason(base, second)).toMatchObject(missed(type));
});

test("An unknown id is said to be unknown", async () => {
  expect(await reason(base, grown, "msg_none")).toMatchObject({
    diagnostics: { cache_miss_reason: { type: "previous_message_not_found" } },
  });
});

test("The first turn may ask without an id, and who does not ask is told nothing", async () => {
  const asked = await s.post(emulator(), s.request({ diagnostics: { previous_message_id: null } }));
  expect(await asked.json()).toMatchObject({ diagnostics: null });
  const quiet = await s.post(emulator(), s.request());
  expect(await quiet.json()).not.toHaveProperty("diagnostics");
});
