import { expect, test } from "vitest";
import { remoteAgent } from "../../src/toolkit/remote-agent.ts";

test.for([
  ["https://example.com/agents/booker", "booker"],
  ["https://example.com/agents/booker/", "booker"],
  ["https://booker.example.com", "ask_booker_example_com"],
  ["https://example.com/%20x", "ask_example_com"],
])("the agent at %s is the tool %s", ([url, name]) => {
  expect(remoteAgent({ url: url ?? "" }).spec.name).toBe(name);
});

test("an agent that can't be asked is refused when the worker starts", () => {
  expect(() => remoteAgent({ url: "example.com" })).toThrow("needs the http(s) URL");
  expect(() => remoteAgent({ url: "file:///etc/passwd" })).toThrow("needs the http(s) URL");
  const misspelt: object = { url: "https://example.com", key: "x" };
  expect(() => remoteAgent(misspelt as { url: string })).toThrow('no option "key"');
});
