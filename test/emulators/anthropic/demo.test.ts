import { expect, test } from "vitest";
import { demoAnswerer } from "./demo.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: demoAnswerer });
const query = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
const tools = [
  s.tool("tool_search", { input_schema: query }),
  s.tool("weather", {
    defer_loading: true,
    input_schema: { type: "object", properties: { unit: { enum: ["C", "F"] } }, required: ["unit"] },
  }),
];

async function answer(...messages: s.Body[]) {
  const response = await s.post(emulator(), s.request({ tools, messages }));
  const body: unknown = await response.json();
  return body;
}

test("The demonstration searches, calls what was found, and tells the result", async () => {
  const turn = [s.user("Weather?")];
  expect(await answer(...turn)).toMatchObject({
    content: [{ type: "tool_use", name: "tool_search", input: { query: "Weather?" } }],
  });
  turn.push(s.assistant(s.use("a", "tool_search")), s.user(s.result("a", [s.reference("weather")])));
  expect(await answer(...turn)).toMatchObject({
    content: [{ type: "text" }, { type: "tool_use", name: "weather", input: { unit: "C" } }],
  });
  turn.push(s.assistant(s.use("b", "weather")), s.user(s.result("b", "Sunny")));
  expect(await answer(...turn)).toMatchObject({ content: [{ type: "text", text: "weather said: Sunny" }] });
});
