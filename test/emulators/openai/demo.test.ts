import { expect, test } from "vitest";
import { demoAnswerer } from "./demo.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: demoAnswerer });
const parameters = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
const weather = s.tool("weather", {
  parameters: { type: "object", properties: { unit: { enum: ["C", "F"] } }, required: ["unit"] },
});

async function answer(...input: s.Body[]) {
  const response = await s.post(emulator(), s.request({ tools: [{ ...s.clientSearch, parameters }], input }));
  const body: unknown = await response.json();
  return body;
}

test("The demonstration searches, calls what was found, and tells the result", async () => {
  const turn = [s.user("Weather?")];
  expect(await answer(...turn)).toMatchObject({
    output: [{ type: "tool_search_call", arguments: { query: "Weather?" } }],
  });
  turn.push(s.searched("a"), s.loads("a", weather));
  expect(await answer(...turn)).toMatchObject({
    output: [{ type: "message" }, { type: "function_call", name: "weather", arguments: '{"unit":"C"}' }],
  });
  turn.push(s.use("b", "weather", { namespace: "weather" }), s.output("b", "Sunny"));
  expect(await answer(...turn)).toMatchObject({ output: [{ content: [{ text: "weather said: Sunny" }] }] });
});
