import { expect, test } from "vitest";
import { expectExtends, openai, openaiChat } from "../../src/testing.ts";
import { say } from "./anthropic/index.ts";
import * as s from "./anthropic/support.ts";
import { prefixReport, prefixReportText } from "./prefix-report.ts";

const emulator = s.useEmulator({ answer: () => say("ok") });
const system = [{ type: "text", text: "Keep to the point. ".repeat(400), cache_control: { type: "ephemeral" } }];
const first = { system, tools: [s.tool("look")], messages: [s.user("Hello")] };
const more = [s.user("Hello"), s.assistant("ok"), s.user("And now?")];

async function report(...bodies: s.Body[]) {
  for (const body of bodies) await s.post(emulator(), s.request(body));
  return prefixReport(emulator().requests);
}

test("A server that only adds is told so, with what the cache gave and could have given", async () => {
  const told = await report(first, { ...first, messages: more });
  expect(told).toMatchObject({ requests: 2, refused: [], followed: 1, extended: 1, breaks: [], flags: [] });
  expect(told.cachedShare).toBeGreaterThan(0.9);
  expect(told.cacheableShare).toBeGreaterThanOrEqual(told.cachedShare);
});

test.each([
  ["tools", { tools: [s.tool("look"), s.tool("late")] }],
  ["system", { system: [{ type: "text", text: "It is Monday." }] }],
  ["messages", { messages: [s.user("Hello!"), s.assistant("ok"), s.user("And now?")] }],
  ["settings", { tool_choice: { type: "none" } }],
] as const)("A break by %s is named so", async (cause, change) => {
  const told = await report(first, { ...first, messages: more, ...change });
  expect(told.breaks.map((one) => one.cause)).toEqual([cause]);
  expect(prefixReportText(told)).toContain(`breaks      1: 1 by ${cause}`);
});

test("A refused request is told with its rule, and the next one is held against the last that was accepted", async () => {
  const told = await report(first, { ...first, messages: [] }, { ...first, messages: more });
  expect(told.refused).toEqual([{ n: 2, rule: "E-A15", message: expect.any(String) }]);
  expect(told).toMatchObject({ requests: 3, followed: 1, extended: 1 });
});

test.each([
  ["Responses", openai, "/responses", (text: string) => ({ store: false, input: [{ role: "user", content: text }] })],
  [
    "Chat Completions",
    openaiChat,
    "/chat/completions",
    (text: string) => ({ messages: [{ role: "user", content: text }] }),
  ],
] as const)("The report is made of OpenAI's %s as well", async (_, kit, path, body) => {
  const options = { answer: () => say("ok") };
  const server =
    "startOpenAIEmulator" in kit ? await kit.startOpenAIEmulator(options) : await kit.startChatEmulator(options);
  const long = "Keep to the point. ".repeat(400);
  for (const text of [long, long, `${long}!`]) {
    const sent = { model: "gpt-5.4", ...body(text) };
    await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { authorization: "Bearer key" },
      body: JSON.stringify(sent),
    });
  }
  await server.close();
  const told = prefixReport(server.requests, { layout: kit.bodyLayout });
  expect(told).toMatchObject({ requests: 3, refused: [], followed: 2, extended: 1 });
  expect(told.breaks.map(({ cause }) => cause)).toEqual(["messages"]);
  expect(told.cachedShare).toBeGreaterThan(0.9);
  expect(() =>
    expectExtends(
      server.requests.map(({ bodyText }) => bodyText),
      kit.bodyLayout,
    ),
  ).toThrow(/request 3 does not extend request 2: message block 0/);
});
