import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { defineTool } from "../../src/define/tool.ts";
import { SessionClient } from "../../src/session/client.ts";
import type { SessionRpc } from "../../src/session/contract.ts";
import { call, say, scripted, testAgent } from "../../src/testing.ts";
import { Subrequests } from "../../src/turn/subrequests.ts";

const held: ServerResponse[] = [];
let peak = 0;
const server = createServer((request, response) => {
  if (request.url === "/now") return void response.end("now");
  if (request.url === "/endless") return void response.writeHead(200).write("begin");
  held.push(response);
  peak = Math.max(peak, held.length);
});
let url = "";
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const fetches = (name: string, paths: readonly string[], read: boolean) =>
  defineTool({
    name,
    description: "Asks the outside.",
    risk: "read",
    async execute(_, { fetch }) {
      const answers = await Promise.all(paths.map((path) => fetch(`${url}${path}`)));
      if (read) await Promise.all(answers.map((answer) => answer.text()));
      return "asked";
    },
  });

const ten = Array.from({ length: 10 }, (_, n) => `/held/${n}`);
const agent = defineAgent({
  name: "asker",
  description: "Asks.",
  model: "anthropic/claude-sonnet-5",
  tools: [fetches("ask_ten", ten, true), fetches("ask_now", ["/now"], true), fetches("leave", ["/endless"], false)],
  limits: { subrequests: 60 },
});
const env = { HOLDFAST_ALLOW_LOOPBACK: "1" };

test("of all that tools ask at once, four requests are out, whichever tool asks", async () => {
  const model = scripted([call("ask_ten", {}, "c1"), call("ask_ten", {}, "c2")], say("Done."));
  const said = testAgent(agent, { model: model.provider, env }).say("Ask.");
  for (let answered = 0; answered < 20; answered++) {
    await expect.poll(() => held.length, { interval: 1 }).toBe(Math.min(4, 20 - answered));
    // Whatever was sent before this one has arrived with it.
    await (await fetch(`${url}/now`)).text();
    held.shift()?.end("later");
  }
  expect((await said).text).toBe("Done.");
  expect(peak).toBe(4);
});

test("an answer that a tool did not read is let go of when its call is over", async () => {
  const model = scripted(call("leave"), say("Left."));
  const closed = new Promise<void>((resolve) => {
    server.once("request", (_, response: ServerResponse) => response.once("close", resolve));
  });
  expect((await testAgent(agent, { model: model.provider, env }).say("Leave.")).text).toBe("Left.");
  await closed;
});

test("a turn that asks others too often ends with an error that says so, and the next one is as any", async () => {
  const answers = Array.from({ length: 30 }, (_, n) => call("ask_now", { n }, `c${n}`));
  const model = scripted(...answers);
  const asked = testAgent(agent, { model: model.provider, env });
  await expect(asked.say("Ask on and on.")).rejects.toThrow(
    /^The turn stopped after \d+ requests to others, of which this agent's limit allows 60\.$/,
  );
  const entries = await asked.entries();
  const calls = entries.flatMap((entry) => (entry.kind === "assistant" ? entry.blocks : []));
  expect(calls.length).toBeGreaterThan(5);
  expect(calls.length).toBeLessThan(15);
  expect(entries.at(-1)?.kind).toBe("results");
});

test("calls of the object count each time they are made, model calls with their repeats, and an end is kept back", async () => {
  const fails = Object.assign(new Error("reset"), { retryable: true });
  let left = 2;
  const object: Partial<SessionRpc> = {
    summary: async () => {
      if (left-- > 0) throw fails;
      return null;
    },
    beat: async () => "go",
  };
  const client = new SessionClient({ getByName: () => object as SessionRpc }, "s", async () => {});
  await client.summary();
  await client.beat(1);
  expect(client.requests).toBe(4);
  const spent = new Subrequests(client, 4 + 5 + 2 + 1 + 15);
  spent.model(1);
  spent.outside();
  expect(spent.isSpent).toBe(false);
  await client.beat(1);
  expect(spent.isSpent).toBe(true);
  expect(() => spent.outside()).toThrow("The turn stopped after 13 requests to others");
});
