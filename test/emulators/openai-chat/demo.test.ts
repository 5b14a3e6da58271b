import { expect, test } from "vitest";
import { demoAnswerer } from "./demo.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: demoAnswerer });
const parameters = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
const search = s.tool("tool_search", { parameters });

async function answer(tools: s.Body[], ...messages: s.Body[]) {
  const response = await s.post(emulator(), s.request({ tools, messages }));
  const body: unknown = await response.json();
  return body;
}

const called = (id: string, name: string) =>
  s.assistant(null, { tool_calls: [{ id, type: "function", function: { name, arguments: "{}" } }] });

test("The demonstration searches, calls what was found, and tells the result", async () => {
  const turn = [s.user("Weather?")];
  expect(await answer([search], ...turn)).toMatchObject({
    choices: [{ message: { tool_calls: [{ function: { name: "tool_search", arguments: '{"query":"Weather?"}' } }] } }],
  });
  turn.push(called("a", "tool_search"), s.answer("a", "Loaded: weather"));
  const tools = [search, s.tool("weather")];
  expect(await answer(tools, ...turn)).toMatchObject({
    choices: [{ message: { content: "I found weather.", tool_calls: [{ function: { name: "weather" } }] } }],
  });
  turn.push(called("b", "weather"), s.answer("b", "Sunny"));
  expect(await answer(tools, ...turn)).toMatchObject({ choices: [{ message: { content: "weather said: Sunny" } }] });
});
