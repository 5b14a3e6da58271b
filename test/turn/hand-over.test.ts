import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { defineTool } from "../../src/define/tool.ts";
import type { Tool } from "../../src/define/types.ts";
import type { Provider } from "../../src/providers/contract.ts";
import { SessionClient } from "../../src/session/client.ts";
import type { AppendRequest } from "../../src/session/contract.ts";
import type { TurnJob } from "../../src/session/host.ts";
import { Session } from "../../src/session/session.ts";
import { nodeStorage } from "../../src/testing/node-storage.ts";
import { call, say, scripted } from "../../src/testing.ts";
import { followTurn } from "../../src/turn/follow.ts";
import { plainRequest } from "../../src/turn/plain-request.ts";
import { goOnWith, startInBackground, startTurn, type TurnHost } from "../../src/turn/start.ts";
import { decodeEntry, type ToolResult } from "../../src/values/entry.ts";
import type { TurnEvent } from "../../src/values/turn-event.ts";

const SECOND = 1_000;
const owner = { id: "ann", name: "Ann", roles: ["user"] };
const env = {} as Cloudflare.Env;

beforeEach(() => {
  const toFake = ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"] as const;
  vi.useFakeTimers({ now: 1_800_000_000_000, shouldAdvanceTime: true, toFake: [...toFake] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A tool whose calls wait until the test lets them go. */
function waiting(name: string, idempotent: boolean) {
  const calls: { readonly id: string; readonly answer: (text: string) => void }[] = [];
  const tool = defineTool({
    name,
    description: "Waits.",
    risk: "read",
    idempotent,
    timeout: "1h",
    execute: (_, { callId }) => new Promise<string>((answer) => calls.push({ id: callId, answer })),
  });
  return { tool, calls };
}

/** What fails on the way to a session: calls of that name, or the answer to the next append that ends a turn. */
type Lost = "beat" | "append" | "end's answer";

/** A session whose turns are given out to this process, and what became of each. */
function stage(provider: Provider, tools: readonly Tool[], lost: Set<Lost> = new Set()) {
  const jobs: TurnJob[] = [];
  const work: Promise<unknown>[] = [];
  const ctx = { waitUntil: (one: Promise<unknown>) => void work.push(one) };
  const session = new Session({
    storage: nodeStorage(),
    db: null,
    name: undefined,
    waitUntil: ctx.waitUntil,
    setAlarm: async () => {},
    run: async (job) => {
      jobs.push(job);
      await goOnWith(host, env, ctx, job);
    },
    now: Date.now,
  });
  const reach = new Proxy(session, {
    get(target, name) {
      if (lost.has(name as Lost)) return () => Promise.reject(new Error("Network connection lost."));
      if (name === "append" && lost.has("end's answer")) {
        return async (request: AppendRequest) => {
          const answer = await session.append(request);
          if (request.kind !== "finish" || !lost.delete("end's answer")) return answer;
          throw new Error("Durable Object is overloaded.");
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const client = new SessionClient({ getByName: () => reach }, "test");
  const agent = defineAgent({
    name: "a",
    description: "d",
    model: "anthropic/claude-sonnet-5",
    instructions: "i",
    tools,
  });
  const host: TurnHost = {
    runtime: { agents: [agent], provider: () => provider },
    sessions: () => client,
    log: () => {},
  };
  const conversation = { id: "test", minted: true };
  const request = plainRequest({ agent, owner, conversation, requestId: "r" }, [{ type: "text", text: "Go." }]);
  return {
    jobs,
    /** Says something as a client that can leave. */
    start() {
      const client = new AbortController();
      startTurn(host, env, ctx, { ...request, signal: client.signal });
      return () => client.abort();
    },
    alarm: () => session.alarm(),
    goOn: (job: TurnJob) => goOnWith(host, env, ctx, job),
    startInBackground: () => startInBackground(host, env, request),
    async events(): Promise<TurnEvent[]> {
      const events: TurnEvent[] = [];
      for await (const one of followTurn(client, null, null)) if (one !== "idle") events.push(one.event);
      return events;
    },
    async results(): Promise<ToolResult[]> {
      const found = await client.entries(0, 100);
      return (found?.entries ?? []).flatMap(([, text]) => {
        const entry = decodeEntry(text);
        return entry.kind === "results" ? entry.results : [];
      });
    },
    calls: async () => (await client.calls(0, 100))?.calls ?? [],
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const soon = (what: () => void) => vi.waitFor(what, { timeout: 10 * SECOND, interval: 1 });

describe("a client that leaves a turn that goes on", () => {
  test("leaves it to another isolate once its step is through, which finishes it", async () => {
    const slow = waiting("slow", false);
    const model = scripted(call("slow"), say("Done."));
    const on = stage(model.provider, [slow.tool]);
    const leave = on.start();
    await soon(() => expect(slow.calls).toHaveLength(1));
    leave();
    await pass(10 * SECOND);
    expect(on.jobs).toHaveLength(0);
    slow.calls[0]?.answer("slow, but there");
    await soon(() => expect(on.jobs).toHaveLength(1));
    const events = await on.events();
    expect(events.at(-1)).toMatchObject({ type: "done", stop: "end" });
    expect(events.filter(({ type }) => type === "started" || type === "result")).toHaveLength(2);
    expect(await on.results()).toMatchObject([{ status: "ok", content: [{ text: "slow, but there" }] }]);
    expect(model.requests).toHaveLength(2);
  });

  test("has a step that takes longer than 20 s cut: what is there is kept, what may run again does, the rest is interrupted", async () => {
    const fast = waiting("fast", false);
    const again = waiting("again", true);
    const once = waiting("once", false);
    const model = scripted(
      [call("fast", {}, "c_fast"), call("again", {}, "c_again"), call("once", {}, "c_once")],
      say("Done."),
    );
    const on = stage(model.provider, [fast.tool, again.tool, once.tool]);
    const leave = on.start();
    await soon(() => expect(once.calls).toHaveLength(1));
    fast.calls[0]?.answer("at once");
    leave();
    await pass(19 * SECOND);
    expect(on.jobs).toHaveLength(0);
    await pass(2 * SECOND);
    await soon(() => expect(again.calls).toHaveLength(2));
    expect(again.calls.map(({ id }) => id)).toEqual(["c_again", "c_again"]);
    again.calls[1]?.answer("the second time");
    const events = await on.events();
    expect(events.at(-1)).toMatchObject({ type: "done" });
    expect(await on.results()).toMatchObject([
      { call: "c_fast", status: "ok", content: [{ text: "at once" }] },
      { call: "c_again", status: "ok", content: [{ text: "the second time" }] },
      { call: "c_once", status: "interrupted" },
    ]);
    expect([fast.calls.length, once.calls.length]).toEqual([1, 1]);
  });

  test("has a model call that takes longer than 20 s cut: it runs again, its cost stays, and its text is withdrawn", async () => {
    const model = scripted(say("Whole answer."));
    let stalls = true;
    const provider: Provider = {
      ...model.provider,
      async *stream(name, body, deps) {
        if (!stalls) return yield* model.provider.stream(name, body, deps);
        stalls = false;
        yield { type: "begun", id: "msg_1" };
        yield { type: "usage", usage: { input: 7, cacheRead: 0, cacheWrite: 0, output: 3 } as never };
        yield { type: "text", text: "Half an ans" };
        await new Promise((_, reject) => deps.signal?.addEventListener("abort", () => reject(new Error("aborted"))));
      },
    };
    const on = stage(provider, []);
    const leave = on.start();
    await soon(() => expect(stalls).toBe(false));
    leave();
    await pass(21 * SECOND);
    await soon(() => expect(on.jobs).toHaveLength(1));
    const events = await on.events();
    expect(events.map(({ type }) => type)).toEqual([
      "started",
      "request",
      "answering",
      "text",
      "withdrawn",
      "request",
      "answering",
      "text",
      "done",
    ]);
    expect(events.filter((event) => event.type === "text").at(-1)).toMatchObject({ text: "Whole answer." });
    expect((await on.calls()).map(({ step, verdict }) => [step, verdict.prefix])).toEqual([
      [1, "first"],
      [1, "extends"],
    ]);
  });
});

test("a turn in the background is begun here and runs elsewhere, with nobody attached", async () => {
  const model = scripted(say("Hello."));
  const on = stage(model.provider, []);
  const turn = await on.startInBackground();
  expect((await on.events()).map(({ type }) => type)).toEqual(["started", "request", "answering", "text", "done"]);
  expect(on.jobs.map((job) => job.turn)).toEqual([turn]);
});

test("a run that nobody waits for hands its turn on after ten minutes, between two steps, and counts no attempt for it", async () => {
  const slow = waiting("slow", true);
  const model = scripted(...[1, 2].map((n) => call("slow", {}, `c${n}`)), say("Done."));
  const on = stage(model.provider, [slow.tool]);
  await on.startInBackground();
  for (let n = 1; n <= 2; n++) {
    await soon(() => expect(slow.calls).toHaveLength(n));
    await pass(11 * 60 * SECOND);
    slow.calls[n - 1]?.answer(`answer ${n}`);
  }
  expect((await on.events()).at(-1)).toMatchObject({ type: "done" });
  expect(on.jobs).toHaveLength(3);
  expect((await on.results()).map(({ status }) => status)).toEqual(["ok", "ok"]);
});

test("a second run that is started with the same fence changes nothing", async () => {
  const model = scripted(say("Once."), say("Twice?"));
  const on = stage(model.provider, []);
  await on.startInBackground();
  await soon(() => expect(on.jobs).toHaveLength(1));
  await on.goOn(on.jobs[0] as TurnJob);
  await on.events();
  expect(model.requests).toHaveLength(1);
  expect(await on.calls()).toHaveLength(1);
});

/** A turn whose tool is at work, and whose events somebody has begun to follow. */
async function followedTurn() {
  const slow = waiting("slow", true);
  const model = scripted(call("slow"), say("Done."));
  const lost = new Set<Lost>();
  const on = stage(model.provider, [slow.tool], lost);
  on.start();
  await soon(() => expect(slow.calls).toHaveLength(1));
  const events = on.events();
  await pass(2 * SECOND);
  return { slow, lost, on, events };
}

test.each([
  ["a run that can't reach its session any more, and so gives the turn up,", "beat"],
  ["a run whose end can't be stored", "append"],
] as const)("%s tells no end to those who follow the turn: it goes on elsewhere", async (_, unreachable) => {
  const { slow, lost, on, events } = await followedTurn();
  lost.add(unreachable);
  if (unreachable === "append") slow.calls[0]?.answer("never stored");
  await pass(12 * SECOND);
  lost.clear();
  await pass(30 * SECOND);
  void on.alarm();
  await soon(() => expect(slow.calls).toHaveLength(2));
  slow.calls[1]?.answer("there");
  const types = (await events).map(({ type }) => type);
  expect(types).not.toContain("failed");
  expect(types.at(-1)).toBe("done");
  expect((await on.events()).map(({ type }) => type)).not.toContain("failed");
});

test("a turn that is done is told as done, though its isolate lost the answer that said so", async () => {
  const { slow, lost, events } = await followedTurn();
  lost.add("end's answer");
  slow.calls[0]?.answer("there");
  const types = (await events).map(({ type }) => type);
  expect(lost.size).toBe(0);
  expect(types).not.toContain("failed");
  expect(types.at(-1)).toBe("done");
});
