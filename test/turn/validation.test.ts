import { expect, test } from "vitest";
import * as z from "zod";
import { defineAgent } from "../../src/define/agent.ts";
import { defineTool } from "../../src/define/tool.ts";
import { call, say, scripted, testAgent } from "../../src/testing.ts";

const hanging = z.object({}).refine(() => new Promise<boolean>(() => {}));
const throwing = z.object({}).refine(() => {
  throw new Error("the rule itself is broken");
});

test.each([
  ["never ends", hanging, "did not finish within 50 ms"],
  ["throws", throwing, "the rule itself is broken"],
])("a validation that %s is a failed call, not a failed turn", async (_, input, text) => {
  const agent = defineAgent({
    name: "assistant",
    description: "For a test.",
    model: "anthropic/claude-sonnet-5",
    tools: [defineTool({ name: "check", description: "Checks.", timeout: 50, input, execute: () => "never" })],
  });
  const tested = testAgent(agent, { model: scripted(call("check"), say("It failed.")).provider });
  const { text: answer, events } = await tested.say("check");
  expect(answer).toBe("It failed.");
  expect(events.find((event) => event.type === "result")).toMatchObject({
    status: "error",
    text: expect.stringContaining(text),
  });
});
