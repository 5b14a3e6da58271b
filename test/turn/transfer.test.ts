import { describe, expect, test } from "vitest";
import { type AgentOptions, defineAgent } from "../../src/define/agent.ts";
import { checkAgents } from "../../src/define/check-agents.ts";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";
import type { Agent } from "../../src/define/types.ts";
import type { Provider } from "../../src/providers/contract.ts";
import { SessionClient } from "../../src/session/client.ts";
import type { SessionId } from "../../src/session/contract.ts";
import { nodeSession } from "../../src/testing/node-session.ts";
import { type Answer, call, say, scripted, testAgent } from "../../src/testing.ts";
import { Budget } from "../../src/turn/budget.ts";
import { plainRequest } from "../../src/turn/plain-request.ts";
import { startTurn } from "../../src/turn/start.ts";
import { decodeEntry, type Entry, type ToolResult } from "../../src/values/entry.ts";
import type { TurnEvent } from "../../src/values/turn-event.ts";

const clock = defineTool({ name: "clock", description: "The time.", risk: "read", execute: () => "noon" });
const weather = defineTool({ name: "weather", description: "Weather.", risk: "read", execute: () => "sun" });
const asks = defineTool({ name: "asks", description: "Asks.", execute: (_, { ask }) => ask("What?") });

function agent(name: string, options: Partial<AgentOptions> = {}): Agent {
  const model = `${name}/claude-opus-4-8`;
  return defineAgent({ name, description: `Does ${name}.`, model, tools: [clock, lazy(weather)], ...options });
}

/** One scripted model for each agent, by the name before the slash of its model. */
function models(scripts: Readonly<Record<string, readonly Answer[]>>): {
  provider: Provider;
  bodies: () => readonly string[];
} {
  const all = new Map(Object.entries(scripts).map(([name, answers]) => [name, scripted(...answers)]));
  const bodies: string[] = [];
  const [first] = all.values();
  if (first === undefined) throw new Error("no script");
  const provider: Provider = {
    ...first.provider,
    settings: (model, settings, key) => first.provider.settings(model, settings, key),
    stream(model, body, deps) {
      bodies.push(body);
      const who = [...all.keys()].find((name) => body.includes(`You are ${name}.`));
      const own = all.get(who ?? "");
      if (own === undefined) throw new Error(`no script for ${body.slice(0, 500)}`);
      return own.provider.stream(model, body, deps);
    },
  };
  return { provider, bodies: () => bodies };
}

const named = (name: string, options: Partial<AgentOptions> = {}) =>
  agent(name, { instructions: `You are ${name}.`, ...options });

function resultsIn(entries: readonly Entry[]): ToolResult[] {
  return entries.flatMap((entry) => (entry.kind === "results" ? entry.results : []));
}

const textOf = (result: ToolResult | undefined) => result?.content.map((part) => "text" in part && part.text).join();

test("a task is worked on in a session of its own, whose last word is the result, and nothing of it is the parent's", async () => {
  const helper = named("helper");
  const boss = named("boss", { subagents: [helper] });
  const { provider, bodies } = models({
    boss: [
      [call("clock"), call("transfer_task", { agent: "helper", task: "How is the weather?" })],
      say("Sunny."),
      say("Bye."),
    ],
    helper: [[say("Let me see."), call("tool_search", { query: "weather" })], call("weather"), say("It is sunny.")],
  });
  const tested = testAgent(boss, { model: provider });
  const { events, text } = await tested.say("Weather?");
  expect(text).toBe("Sunny.");
  const entries = await tested.entries();
  const [time, handed] = resultsIn(entries);
  expect([time?.status, handed?.status, textOf(handed)]).toEqual(["ok", "ok", "It is sunny."]);
  expect(handed?.session?.agent).toBe("helper");
  expect(handed?.session?.conversation).toMatch(/^sub_[0-9a-f]{32}$/);
  const inner = await tested.entries(handed?.session);
  expect(inner.map(({ kind }) => kind)).toEqual(["user", "assistant", "results", "assistant", "results", "assistant"]);
  expect(inner[0]).toMatchObject({ content: [{ type: "text", text: "How is the weather?" }] });
  expect(events.flatMap((event) => (event.type === "progress" ? [event.text] : []))).toEqual([
    ...["helper → tool_search", "helper → weather"],
  ]);
  await tested.say("Thanks.");
  // What the sub-session loaded is not there in the parent.
  expect(bodies().at(-1)).not.toContain('"name":"weather"');
  expect((await tested.ledger(handed?.session)).map(({ verdict }) => verdict.prefix)).toEqual([
    "first",
    "extends",
    "extends",
  ]);
  expect((await tested.ledger()).map(({ verdict }) => verdict.prefix)).toEqual(["first", "extends", "extends"]);
});

test("the turn's usage is that of its sub-sessions, too, and they take from its model calls", async () => {
  const helper = named("helper", { limits: { steps: 50 } });
  const boss = named("boss", { subagents: [helper], limits: { steps: 4, repeats: 9 } });
  const { provider } = models({
    boss: [call("transfer_task", { agent: "helper", task: "Look." }), say("never said")],
    helper: [call("clock"), call("clock"), call("clock"), say("never said")],
  });
  const tested = testAgent(boss, { model: provider });
  await expect(tested.say("Go.")).rejects.toThrow("stopped after 4 model calls");
  const [result] = resultsIn(await tested.entries());
  expect([result?.status, textOf(result)]).toEqual([
    "error",
    "The other agent failed: The turn stopped after 3 model calls, which is this agent's limit.",
  ]);
  expect(await tested.ledger(result?.session)).toHaveLength(3);
});

test("a sub-session takes from the tokens of the turn above, while it runs", async () => {
  const helper = named("helper", { limits: { repeats: 99 } });
  const boss = named("boss", { subagents: [helper], limits: { tokens: 700 } });
  const calls = Array.from({ length: 20 }, () => call("clock"));
  const transfer = call("transfer_task", { agent: "helper", task: "Look." });
  const { provider } = models({ boss: [transfer, say("never said")], helper: [...calls, say("never said")] });
  const tested = testAgent(boss, { model: provider });
  await expect(tested.say("Go.")).rejects.toThrow("stopped after 700 tokens");
  const [result] = resultsIn(await tested.entries());
  expect(result?.status).toBe("error");
  expect((await tested.ledger(result?.session)).length).toBeLessThan(4);
});

test("what sub-sessions used still counts once the turn goes on after a pause", async () => {
  const helper = named("helper");
  const boss = named("boss", { tools: [asks], subagents: [helper], limits: { steps: 5, repeats: 9 } });
  const transfer = call("transfer_task", { agent: "helper", task: "Look." });
  const scripts = {
    boss: [transfer, call("asks"), call("asks"), say("never said")],
    helper: [call("clock"), say("It is noon.")],
  };
  const tested = testAgent(boss, { model: models(scripts).provider });
  const before = (await tested.say("Go.")).events.at(-1);
  const answer = async () => {
    const [pause] = await tested.pauses();
    return tested.answer(pause?.id ?? "", { kind: "question", answer: "This." });
  };
  const after = (await answer())?.events.at(-1);
  await expect(answer()).rejects.toThrow("stopped after 5 model calls");
  const made = [await tested.ledger(), await tested.ledger(resultsIn(await tested.entries())[0]?.session)].flat();
  expect(made).toHaveLength(5);
  const output = made.reduce((sum, { usage }) => sum + usage.output, 0);
  if (before?.type !== "done" || after?.type !== "done") throw new Error("a turn did not pause");
  expect(before.usage.output).toBeLessThan(output);
  expect(after.usage.output).toBe(output);
});

test("calls of the same id in two answers, as an endpoint makes them that counts its calls, are two sub-sessions", async () => {
  const helper = named("helper");
  const boss = named("boss", { subagents: [helper] });
  const transfer = (task: string) => call("transfer_task", { agent: "helper", task }, "transfer_task_0");
  const { provider } = models({
    boss: [transfer(`First. ${"word ".repeat(400)}`), say("One."), say("Summary."), transfer("Second."), say("Two.")],
    helper: [say("The first."), say("The second.")],
  });
  const tested = testAgent(boss, { model: provider });
  await tested.say("Go.");
  expect(await tested.compact()).toBe(true);
  expect((await tested.say("Again.")).text).toBe("Two.");
  const results = resultsIn(await tested.entries());
  expect(results.map(textOf)).toEqual(["The first.", "The second."]);
  expect(new Set(results.map(({ session }) => session?.conversation)).size).toBe(2);
});

test("a failed sub-session, a wrong agent and an empty task are errors that the model reads", async () => {
  const helper = named("helper");
  const boss = named("boss", { subagents: [helper] });
  const { provider } = models({
    boss: [
      [
        call("transfer_task", { agent: "nobody", task: "x" }),
        call("transfer_task", { agent: "helper", task: " " }),
        call("transfer_task", { agent: "helper", task: "Fail." }),
      ],
      say("Oh."),
    ],
    helper: [],
  });
  const tested = testAgent(boss, { model: provider });
  expect((await tested.say("Go.")).text).toBe("Oh.");
  const results = resultsIn(await tested.entries());
  expect(results.map(({ status }) => status)).toEqual(["error", "error", "error"]);
  expect(textOf(results[0])).toContain("does not match");
  expect(textOf(results[2])).toContain("The other agent failed");
});

test("in a sub-session nobody can be asked, and a question is an error there", async () => {
  const helper = named("helper", { tools: [asks], plan: true, modes: { plan: { allow: [] } } });
  const boss = named("boss", { subagents: [helper] });
  const { provider } = models({
    boss: [call("transfer_task", { agent: "helper", task: "Ask." }), say("All right.")],
    helper: [call("asks"), call("enter_plan_mode"), call("submit_plan", { plan: "x" }), say("Nobody there.")],
  });
  const tested = testAgent(boss, { model: provider });
  expect((await tested.say("Go.")).text).toBe("All right.");
  expect(await tested.pauses()).toEqual([]);
  const [result] = resultsIn(await tested.entries());
  expect(textOf(result)).toBe("Nobody there.");
  expect(resultsIn(await tested.entries(result?.session)).map(({ name, status }) => `${name} ${status}`)).toEqual([
    ...["asks error", "enter_plan_mode ok", "submit_plan error"],
  ]);
});

test("twelve tasks at once: eight are worked on side by side, the others wait", async () => {
  const helper = named("helper");
  const boss = named("boss", { subagents: [helper] });
  const tasks = Array.from({ length: 12 }, (_, n) => call("transfer_task", { agent: "helper", task: `Task ${n}.` }));
  const { provider } = models({ boss: [tasks, say("All done.")], helper: tasks.map(() => say("Done.")) });
  let running = 0;
  let most = 0;
  const { promise: eight, resolve } = Promise.withResolvers<void>();
  const held: Provider = {
    ...provider,
    async *stream(model, body, deps) {
      if (!body.includes("You are helper.")) return yield* provider.stream(model, body, deps);
      running += 1;
      most = Math.max(most, running);
      if (running === 8) resolve();
      await eight;
      yield* provider.stream(model, body, deps);
      running -= 1;
    },
  };
  const tested = testAgent(boss, { model: held });
  await tested.say("Go.");
  const results = resultsIn(await tested.entries());
  expect(results.map(({ status }) => status)).toEqual(tasks.map(() => "ok"));
  expect(new Set(results.map(({ session }) => session?.conversation)).size).toBe(12);
  expect(most).toBe(8);
});

/** A turn over sessions of which each tells, before it begins, of whom it is and which the first of them is. */
function deleting(
  agent: Agent,
  provider: Provider,
  beforeBegin: (of: string, parent: SessionClient, session: ReturnType<typeof nodeSession>) => Promise<unknown>,
) {
  const stored = new Map<string, SessionClient>();
  const work: Promise<unknown>[] = [];
  const sessions = (_: unknown, { agent: of, conversation }: SessionId) => {
    const found = stored.get(conversation);
    if (found !== undefined) return found;
    const session = nodeSession({ now: Date.now });
    const { begin } = session;
    session.begin = async (request) => {
      await beforeBegin(of, parent(), session);
      return begin.call(session, request);
    };
    const client = new SessionClient({ getByName: () => session }, conversation);
    stored.set(conversation, client);
    return client;
  };
  const parent = () => sessions(null, { owner: "ann", agent: agent.name, conversation: "top" });
  const children = () => [...stored].flatMap(([conversation, one]) => (conversation === "top" ? [] : [one.summary()]));
  const host = { runtime: { agents: [agent], provider: () => provider }, sessions, log: () => {} };
  const owner = { id: "ann", name: "Ann", roles: ["user" as const] };
  const whose = { agent, owner, conversation: { id: "top", minted: true }, requestId: "test" };
  const env: object = {};
  const ended = async () => {
    const request = plainRequest(whose, [{ type: "text", text: "Go." }]);
    const turn = startTurn(host, env as Cloudflare.Env, { waitUntil: (done) => work.push(done) }, request);
    let last: TurnEvent | null = null;
    for await (const event of turn.events) last = event;
    await Promise.all(work);
    return last;
  };
  const left = async () => {
    const all = await Promise.all([...stored.values()].map((one) => one.summary()));
    return all.filter((one) => one !== null).length;
  };
  const results = async () => {
    const { entries = [] } = (await parent().entries(0, 100)) ?? {};
    return resultsIn(entries.map(([, text]) => decodeEntry(text)));
  };
  return { ended, left, parent, children, results };
}

test("no sub-session begins once its parent was deleted", async () => {
  const boss = named("boss", { subagents: [named("helper")] });
  const tasks = Array.from({ length: 12 }, (_, n) => call("transfer_task", { agent: "helper", task: `Task ${n}.` }));
  const { provider } = models({ boss: [tasks], helper: tasks.map(() => say("Done.")) });
  let begun = 0;
  const gone = Promise.withResolvers<void>();
  const held: Provider = {
    ...provider,
    async *stream(model, body, deps) {
      if (body.includes("You are helper.")) await gone.promise;
      yield* provider.stream(model, body, deps);
    },
  };
  const { ended, parent } = deleting(boss, held, async (of) => {
    if (of !== "helper") return;
    begun += 1;
    if (begun === 8)
      parent()
        .remove()
        .then(() => gone.resolve());
  });
  expect(await ended()).toMatchObject({ type: "failed", failure: { reason: "lost" } });
  expect(begun).toBe(8);
});

test("a sub-session that begins just as its parent is deleted goes, too", async () => {
  const boss = named("boss", { subagents: [named("helper")] });
  const { provider } = models({
    boss: [call("transfer_task", { agent: "helper", task: "Look." })],
    helper: [say("Done.")],
  });
  const { ended, left } = deleting(boss, provider, async (of, parent) => {
    if (of === "helper") await parent.remove();
  });
  expect(await ended()).toMatchObject({ type: "failed", failure: { reason: "lost" } });
  expect(await left()).toBe(0);
});

test("a sub-session that loses its lease while its parent keeps it is joined again, and what it says is the result", async () => {
  const boss = named("boss", { subagents: [named("helper")] });
  const { provider } = models({
    boss: [call("transfer_task", { agent: "helper", task: "Look." }), say("Thanks.")],
    helper: [say("Lost."), say("It is noon.")],
  });
  let lost = false;
  const { ended, children, results } = deleting(boss, provider, async (of, _, session) => {
    if (of !== "helper" || lost) return;
    lost = true;
    const { append } = session;
    session.append = async (request) => {
      session.append = append;
      await session.abandon(request.fence, { reason: "limit", limit: "attempts", message: "It goes on elsewhere." });
      return { kind: "lost" };
    };
  });
  expect(await ended()).toMatchObject({ type: "done", stop: "end" });
  expect(await Promise.all(children())).toMatchObject([{ status: "done" }]);
  expect((await results()).map(({ status }) => status)).toEqual(["ok"]);
});

test("a turn that takes too long stops what it handed over", async () => {
  const boss = named("boss", { subagents: [named("helper")], limits: { seconds: 1 } });
  const { provider } = models({ boss: [call("transfer_task", { agent: "helper", task: "Look." })], helper: [] });
  const slow: Provider = {
    ...provider,
    async *stream(model, body, deps) {
      if (!body.includes("You are helper.")) return yield* provider.stream(model, body, deps);
      await new Promise((resolve) => deps.signal.addEventListener("abort", resolve, { once: true }));
      throw new Error("aborted");
    },
  };
  const { ended, children } = deleting(boss, slow, async () => {});
  expect(await ended()).toMatchObject({ type: "failed", failure: { reason: "limit", limit: "seconds" } });
  expect(await Promise.all(children())).toMatchObject([{ status: "stopped" }]);
});

describe("at definition", () => {
  test("the tool names the agents and says what they do", () => {
    const boss = agent("boss", { subagents: [agent("one"), agent("two")] });
    const tool = boss.tools.find(({ spec }) => spec.name === "transfer_task");
    expect(tool?.spec.description).toContain("- one: Does one.\n- two: Does two.");
    expect(tool?.spec.inputSchema).toMatchObject({ properties: { agent: { enum: ["one", "two"] } } });
    expect(agent("alone").tools.some(({ spec }) => spec.name === "transfer_task")).toBe(false);
  });

  test("cycles, too long chains and lists that are none are refused", () => {
    const inner = agent("b", { subagents: [agent("c", { subagents: [agent("a")] })] });
    expect(() => agent("a", { subagents: [inner] })).toThrow("its subagents lead back to it: a → b → c → a");
    expect(() => agent("a", { subagents: [agent("a")] })).toThrow("a → a");
    expect(() => agent("a", { subagents: [agent("b"), agent("b")] })).toThrow('the subagent "b" is listed twice');
    const chain = (depth: number): Agent => agent(`n${depth}`, { subagents: depth === 0 ? [] : [chain(depth - 1)] });
    expect(() => chain(5)).not.toThrow();
    expect(() => chain(6)).toThrow("its subagents go 6 deep, and at most 5 is allowed");
    const untyped: object = { subagents: ["b"] };
    expect(() => agent("a", untyped)).toThrow("must be a list of agents");
  });

  test("a worker must have the subagents among its agents", () => {
    const helper = agent("helper");
    const boss = agent("boss", { subagents: [helper] });
    expect(() => checkAgents([boss])).toThrow('its subagent "helper" is not among');
    expect(() => checkAgents([boss, helper])).not.toThrow();
  });
});

test("a budget counts for those above, and there is as much left as above", () => {
  const root = new Budget(5, 500);
  const child = new Budget(10, 1_000, root);
  const grandchild = new Budget(3, 900, child);
  expect([child.left, grandchild.left]).toEqual([5, 3]);
  expect([grandchild.take(), grandchild.take(), grandchild.take(), grandchild.take()]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect([root.left, child.left, root.taken.calls, child.taken.calls]).toEqual([2, 2, 3, 3]);
  grandchild.spend(0, 450);
  expect([root, child, grandchild].map(({ tokensLeft }) => tokensLeft)).toEqual([50, 50, 50]);
  root.spend(4, 100);
  expect([root.left, root.tokensLeft, child.tokensLeft, child.take()]).toEqual([0, 0, 0, false]);
});
