import { expect, test } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";
import { call, expectExtends, say, scripted, testAgent } from "../../src/testing.ts";

const tool = (name: string) =>
  defineTool({ name, description: `Does ${name}.`, risk: "read", execute: () => `${name} done` });

const agent = defineAgent({
  name: "assistant",
  description: "For a test.",
  model: "anthropic/claude-sonnet-5",
  instructions: "Be brief.",
  tools: [tool("clock"), lazy(tool("weather"))],
});

test("an agent is tested in process: it loads a tool, uses it, and has it in the next turn", async () => {
  const model = scripted(
    call("tool_search", { query: "weather" }),
    call("weather"),
    say("Sunny."),
    call("weather"),
    say("Rain."),
  );
  const tested = testAgent(agent, { model: model.provider });
  expect((await tested.say("How is the weather?")).text).toBe("Sunny.");
  expect((await tested.say("And now?")).text).toBe("Rain.");
  expect(model.requests).toHaveLength(5);
  expectExtends(model.requests);
  expect((await tested.ledger()).map(({ verdict }) => verdict.prefix)).toEqual([
    "first",
    "extends",
    "extends",
    "extends",
    "extends",
  ]);
  expect((await tested.entries()).map(({ kind }) => kind)).toContain("results");
});

test("a script that calls a tool which the request does not show fails the turn", async () => {
  const tested = testAgent(agent, { model: scripted(call("weather")).provider });
  await expect(tested.say("weather?")).rejects.toThrow();
});

test("requests that do not extend each other are told apart, with the place", () => {
  const body = (text: string) => JSON.stringify({ model: "m", messages: [{ role: "user", content: text }] });
  expectExtends([body("a"), body("a")]);
  expect(() => expectExtends([body("a"), body("b")])).toThrow(/request 2 does not extend request 1: message block 0/);
});
