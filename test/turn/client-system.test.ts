import { expect, test } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { SessionClient } from "../../src/session/client.ts";
import { nodeSession } from "../../src/testing/node-session.ts";
import { type Answer, say, scripted } from "../../src/testing.ts";
import { compactSession } from "../../src/turn/compact-session.ts";
import { plainRequest } from "../../src/turn/plain-request.ts";
import { startTurn } from "../../src/turn/start.ts";

const agent = defineAgent({
  name: "assistant",
  description: "For a test.",
  model: "anthropic/claude-sonnet-5",
  clientSystem: "accept",
  tools: [],
});
const env: object = {};
const owner = { id: "ann", name: "Ann", roles: ["user"] };

/** Sessions by name, and a model that answers them all. */
function stage(...answers: readonly Answer[]) {
  const model = scripted(...answers);
  const stored = new Map<string, SessionClient>();
  const sessions = (_: unknown, { conversation }: { readonly conversation: string }) => {
    const session = nodeSession({ now: Date.now });
    const client = stored.get(conversation) ?? new SessionClient({ getByName: () => session }, conversation);
    stored.set(conversation, client);
    return client;
  };
  const host = { runtime: { agents: [agent], provider: () => model.provider }, sessions, log: () => {} };
  const ctx = { waitUntil: () => {} };
  return {
    /** Says something, and answers the request's system text and messages. */
    async say(conversation: string, text: string, clientSystem: string) {
      const asked = { agent, owner, conversation: { id: conversation, minted: false }, requestId: "r" };
      const request = { ...plainRequest(asked, [{ type: "text", text }]), clientSystem };
      for await (const _ of startTurn(host, env as Cloudflare.Env, ctx, request).events);
      const { system, messages } = JSON.parse(model.requests.at(-1) ?? "{}");
      return { system: JSON.stringify(system), messages: JSON.stringify(messages) };
    },
    compact: (conversation: string) =>
      compactSession(host, env as Cloudflare.Env, ctx, { agent, owner, conversation, requestId: "r" }),
    async fork(conversation: string, at: number) {
      const branch = await sessions(null, { conversation }).branch({ v: 1, at, of: "fork" });
      if (branch?.kind !== "branch") throw new Error("there is no such message");
      const id = { owner: owner.id, agent: agent.name, conversation: "fork" };
      await sessions(null, id).adopt(id, branch.branch);
      return id.conversation;
    },
  };
}

test("a client's changed system text is the next epoch's behind compactions, and not that of a fork from before them", async () => {
  const long = "word ".repeat(400);
  const {
    say: ask,
    compact,
    fork,
  } = stage(
    ...[say("One."), say("Two."), say("Three."), say("Summary."), say("Four.")],
    ...[say("Summary."), say("Five."), say("Forked.")],
  );
  await ask("one", `first ${long}`, "Text A.");
  await ask("one", `second ${long}`, "Text A.");
  const third = await ask("one", `third ${long}`, "Text C.");
  expect(third.system).toContain("Text A.");
  expect(third.messages).toContain("Text C.");
  for (const message of [`fourth ${long}`, "fifth"]) {
    expect(await compact("one")).toEqual({ compacted: true });
    const { system, messages } = await ask("one", message, "Text C.");
    expect(system).toContain("Text C.");
    expect(system).not.toContain("Text A.");
    expect(messages).not.toContain("system-update");
  }
  const forked = await ask(await fork("one", 1), "other", "Text A.");
  expect(forked.system).toContain("Text A.");
  expect(`${forked.system} ${forked.messages}`).not.toContain("Text C.");
});
