import { expect, test } from "vitest";
import { say } from "./index.ts";
import { prefixReport, prefixReportText } from "./prefix-report.ts";
import * as s from "./support.ts";

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
