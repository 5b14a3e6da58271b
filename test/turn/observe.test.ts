import { expect, test } from "vitest";
import type { Observation } from "../../src/turn/observation.ts";
import { type Hooks, observer } from "../../src/turn/observe.ts";
import { plainRequest } from "../../src/turn/plain-request.ts";
import { agent } from "../http/stand-ins.ts";

const request = plainRequest(
  {
    agent: agent("assistant"),
    owner: { id: "ann", name: "Ann", roles: [] },
    conversation: { id: "c1", minted: false },
    requestId: "r1",
  },
  [],
);

const called: Observation = {
  ...{ type: "model", startedAt: 100, firstAt: 130, endedAt: 190, provider: "anthropic", model: "claude" },
  failure: null,
  record: {
    ...{ turn: "turn_1", step: 1, at: 190, model: "anthropic/claude", chain: "anthropic/claude", epoch: 1 },
    ...{ verdict: { prefix: "extends" }, place: null, hash: "ab", segments: 3, deferredHash: "cd", bytes: 10 },
    ...{ end: 0, answered: true, usage: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 }, message: "msg_1" },
  },
};

function watch(hooks: Hooks) {
  const waits: Promise<unknown>[] = [];
  const logged: unknown[] = [];
  const env = {} as Cloudflare.Env;
  const ctx = { waitUntil: (work: Promise<unknown>) => void waits.push(work) };
  const observe = observer(
    hooks,
    { env, ctx },
    request,
    (bytes) => "ab".repeat(bytes),
    (...line) => logged.push(line),
  );
  return { observe, waits, logged, context: { env, ctx } };
}

test("a model call is told with its ledger row, whose it was and how long it took", async () => {
  const told: unknown[][] = [];
  const { observe, waits, context } = watch({ onModelCall: (...told_) => told.push(told_) });
  observe(called);
  observe({ type: "tool", startedAt: 0, endedAt: 1, call: "call_1", name: "clock", status: "ok" });
  await Promise.all(waits);
  expect(told).toEqual([
    [
      expect.objectContaining({
        ...{ agent: "assistant", owner: "ann", conversation: "c1", prefix: "extends", hash: "ab" },
        ms: { firstByte: 30, whole: 90 },
      }),
      context,
    ],
  ]);
  expect(JSON.stringify(told)).not.toContain("msg_1");
});

test("a hook that throws, rejects or takes its time harms nobody", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { observe, waits, logged } = watch({
    onModelCall() {
      throw new Error("no metrics today");
    },
    trace: async (span) => {
      if (span.kind === "client") throw new Error("no spans either");
      await promise;
    },
  });
  observe(called);
  observe({ type: "tool", startedAt: 0, endedAt: 1, call: "call_1", name: "clock", status: "ok" });
  expect(waits).toHaveLength(3);
  await Promise.all(waits.slice(0, 2));
  expect(logged).toEqual([
    ["hook failed", { level: "warn", hook: "onModelCall", error: "no metrics today" }],
    ["hook failed", { level: "warn", hook: "trace", error: "no spans either" }],
  ]);
  resolve();
  await waits[2];
});

test("without hooks nothing is waited for", () => {
  const { observe, waits } = watch({});
  observe(called);
  expect(waits).toEqual([]);
});
