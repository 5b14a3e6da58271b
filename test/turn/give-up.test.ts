import { expect, test } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { say, scripted, testAgent } from "../../src/testing.ts";

test("a fault before the first request gives the session back at once, and the message is answered when it comes again", async () => {
  let broken = true;
  const agent = defineAgent({
    name: "assistant",
    description: "For a test.",
    model: "anthropic/claude-sonnet-5",
    instructions: () => {
      if (broken) throw new Error("the settings service is down");
      return "Be brief.";
    },
    tools: [],
    busy: "reject",
  });
  const model = scripted(say("Hello."));
  const tested = testAgent(agent, { model: model.provider });
  await expect(tested.say("hi")).rejects.toThrow("Something went wrong");
  broken = false;
  expect((await tested.say("hi")).text).toBe("Hello.");
  expect((await tested.entries()).map(({ kind }) => kind)).toEqual(["user", "assistant"]);
});
