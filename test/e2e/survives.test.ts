import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { call, createParking, parkAt, type RecordedRequest, say } from "../emulators/anthropic/index.ts";
import { expectAllExtend, type Stage, startStage } from "./chat.ts";
import { type Hook, startHook } from "./hook.ts";
import { openStream } from "./turn-stream.ts";

let hook: Hook;
let stage: Stage;
beforeAll(async () => {
  hook = await startHook();
  stage = await startStage({ HOOK: hook.url, HOLDFAST_LEASE_SECONDS: "1" });
});
afterAll(async () => {
  await stage.close();
  await hook.close();
});
beforeEach(() => stage.model.reset());

const until = (what: () => Promise<unknown> | unknown) => vi.waitFor(what, { timeout: 20_000, interval: 50 });

/** Resolves once the session's turn is over, with the texts of its entries. */
async function ended(conversation: string): Promise<string[]> {
  await until(async () => expect((await stage.get(`/api/sessions/${conversation}`)).body.running).toBe(false));
  const { body } = await stage.get(`/api/sessions/${conversation}/entries`);
  return body.entries.map((entry: unknown) => JSON.stringify(entry));
}

test("a turn whose process is killed while the model answers is finished by another one, without any request", async () => {
  const parking = createParking<RecordedRequest>();
  stage.model.script([say("Half of"), parkAt(4, parking)], say("All of it."));
  const asked = stage.say("killed", "tell me").catch(() => null);
  await parking.parked;
  await stage.workerd.fresh();
  await asked;
  const entries = await ended("killed");
  expect(entries.filter((entry) => entry.includes("All of it."))).toHaveLength(1);
  expect(entries.join()).not.toContain("Half of");
  expectAllExtend(stage.takeRequests());
});

test("a call that ran when its process was killed runs again only if its tool is idempotent, under the same id", async () => {
  stage.model.script([call("wait", {}), call("once", {})], say("Both done."));
  const asked = stage.say("tools", "use them").catch(() => null);
  const first = [await hook.next(), await hook.next()];
  await stage.workerd.fresh();
  await asked;
  const again = await hook.next();
  expect(again.tool).toBe("wait");
  expect(first.map(({ id }) => id)).toContain(again.id);
  again.answer("waited");
  const entries = await ended("tools");
  const results = entries.filter((entry) => entry.includes('"results"'));
  expect(results).toHaveLength(1);
  expect(results[0]).toContain("waited");
  expect(results[0]).toContain("interrupted");
  expect(entries.at(-1)).toContain("Both done.");
  expect(hook.running).toBe(0);
});

test("a turn whose isolate dies three times fails readably, and the same message runs anew", async () => {
  const parkings = [1, 2, 3].map(() => createParking<RecordedRequest>());
  stage.model.script(...parkings.map((parking) => [say("I will"), parkAt(3, parking)]), say("At last."));
  const asked = stage.say("cursed", "crash").catch(() => null);
  for (const parking of parkings) {
    await parking.parked;
    await stage.workerd.fresh();
  }
  await asked;
  await ended("cursed");
  const told = await openStream(stage, "cursed");
  const last = (await told.all()).at(-1);
  expect(last).toMatchObject({ type: "failed", failure: { reason: "limit", limit: "attempts" } });
  expect((await stage.say("cursed", "crash")).text).toBe("At last.");
  expectAllExtend(stage.takeRequests());
});
