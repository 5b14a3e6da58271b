import { expect, test } from "vitest";
import { say } from "./index.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: () => say("ok") });
const tools = [s.tool("look")];

async function flags(body: s.Body) {
  expect((await s.post(emulator(), s.request({ tools, ...body }))).status).toBe(200);
  return emulator().requests.at(-1)?.flags;
}

const called = [s.user("Look"), s.assistant(s.use("toolu_1", "look"))];

test("Tool output that stays in its result is not flagged", async () => {
  const messages = [...called, s.user(s.result("toolu_1", "canary-a1 found"))];
  expect(await flags({ messages })).toEqual([]);
  expect(await flags({ messages: [...messages, s.assistant("It said canary-a1."), s.user("Go on")] })).toEqual([]);
});

test("Tool output that becomes user text is flagged with its place", async () => {
  const messages = [...called, s.user(s.result("toolu_1"), "The tool said canary-b2.")];
  await flags({ messages: [...called, s.user(s.result("toolu_1", "canary-b2"))] });
  expect(await flags({ messages })).toEqual(["tool output outside a result: canary-b2 at messages.2.content.1"]);
});

test("Tool output that becomes system text is flagged", async () => {
  const messages = [...called, s.user(s.result("toolu_1", [{ type: "text", text: "canary-c3" }]))];
  expect(await flags({ messages, system: "canary-c3" })).toEqual([
    "tool output outside a result: canary-c3 at system.0",
  ]);
});

test("What the user said first may come back from a tool", async () => {
  const asked = [s.user("Look for canary-d4"), s.assistant(s.use("toolu_1", "look"))];
  expect(await flags({ messages: asked.slice(0, 1) })).toEqual([]);
  expect(await flags({ messages: [...asked, s.user(s.result("toolu_1", "canary-d4"))] })).toEqual([]);
});
