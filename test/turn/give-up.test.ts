import { expect, test } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { SessionClient } from "../../src/session/client.ts";
import { nodeSession } from "../../src/testing/node-session.ts";
import { say, scripted, testAgent } from "../../src/testing.ts";
import type { TurnDeps } from "../../src/turn/deps.ts";
import { plainRequest } from "../../src/turn/plain-request.ts";
import { runTurn } from "../../src/turn/run.ts";
import { Sink } from "../../src/turn/sink.ts";

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

test("a fault before the turn has begun here gives the session back as well", async () => {
  const agent = defineAgent({
    name: "assistant",
    description: "For a test.",
    model: "anthropic/claude-sonnet-5",
    tools: [],
  });
  const model = scripted(say("Hello."));
  const session = new SessionClient({ getByName: () => one }, "s");
  const one = nodeSession({ now: Date.now });
  const ask = async (hooks: Pick<TurnDeps, "observe">) => {
    const sink = new Sink("t");
    const deps: TurnDeps = {
      runtime: { agents: [agent], provider: () => model.provider },
      env: {} as Cloudflare.Env,
      ...{ session, quotas: null, sink, now: Date.now, mintId: () => "1", log: () => {}, ...hooks },
    };
    const owner = { id: "ann", name: "Ann", roles: ["user"] };
    const asked = { agent, owner, conversation: { id: "s", minted: true }, requestId: "r" };
    await runTurn(deps, plainRequest(asked, [{ type: "text", text: "hi" }]), `turn_${crypto.randomUUID()}`);
  };
  const observe = () => {
    throw new Error("broken");
  };
  await ask({ observe });
  expect(await session.summary()).toMatchObject({ status: "failed" });
  await ask({});
  expect(await session.summary()).toMatchObject({ status: "done", entries: 2 });
});
