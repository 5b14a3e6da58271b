import { expect, test } from "vitest";
import { migrate } from "../../src/session/schema.ts";
import { Store } from "../../src/session/store.ts";
import { backOff, Timers } from "../../src/session/timers.ts";
import { nodeStorage } from "../../src/testing/node-storage.ts";

const idle = {
  push: () => null,
  retention: () => null,
  lease: () => null,
  outbox: async () => null,
  burial: async () => null,
};

function timers() {
  const storage = nodeStorage();
  migrate(storage.sql);
  const alarms: (number | null)[] = [];
  const reports: string[] = [];
  const store = new Store(storage);
  const set = new Timers(
    store,
    async (due) => {
      alarms.push(due);
    },
    (message) => reports.push(message),
  );
  return { set, alarms, reports, store };
}

test("what failed is tried again after 2 s, twice as late each time, and at least every 5 minutes", async () => {
  const { set, alarms } = timers();
  const fails = { ...idle, outbox: () => Promise.reject(new Error("D1 is down")) };
  let now = 1_000;
  await set.retry("outbox", now);
  const waits: number[] = [];
  for (let tries = 0; tries < 12; tries += 1) {
    const due = alarms.at(-1) ?? 0;
    waits.push(due - now);
    now = due;
    await set.ring(now, fails);
  }
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300].map((seconds) => seconds * 1000));
  expect(backOff(1_000)).toBe(300_000);
});

test("an alarm never throws, and one thing that fails holds nothing else up", async () => {
  const { set, alarms, reports, store } = timers();
  await set.retry("outbox", 0);
  await set.retry("burial", 0);
  let buried = 0;
  await set.ring(10_000, {
    ...idle,
    outbox: () => Promise.reject(new Error("D1 is down")),
    burial: async () => {
      buried += 1;
      return null;
    },
  });
  expect(buried).toBe(1);
  expect(reports).toEqual(["outbox failed again"]);
  expect(store.timers()).toEqual([{ name: "outbox", due: 14_000, tries: 2 }]);
  expect(alarms.at(-1)).toBe(14_000);
});

test("what is not due yet waits, and what waits already is not put off by another failure", async () => {
  const { set, alarms, store } = timers();
  await set.retry("outbox", 0);
  await set.retry("outbox", 1_500);
  const never = () => Promise.reject(new Error("was not due"));
  await set.ring(1_999, { lease: never, outbox: never, burial: never, push: never, retention: never });
  expect(store.timers()).toEqual([{ name: "outbox", due: 2_000, tries: 1 }]);
  expect(alarms).toEqual([2_000, 2_000]);
});

test("with nothing left to do there is no alarm", async () => {
  const { set, alarms, store } = timers();
  await set.retry("outbox", 0);
  await set.ring(2_000, { ...idle });
  expect(store.timers()).toEqual([]);
  expect(alarms.at(-1)).toBeNull();
});

test("what says when it is due next is left for then, and its tries count from the beginning", async () => {
  const { set, alarms, store } = timers();
  await set.at("lease", 1_500);
  await set.at("lease", 1_000);
  await set.at("lease", 2_000);
  expect(store.timers()).toEqual([{ name: "lease", due: 1_000, tries: 0 }]);
  await set.ring(1_000, { ...idle, lease: () => 16_000 });
  expect(store.timers()).toEqual([{ name: "lease", due: 16_000, tries: 0 }]);
  expect(alarms.at(-1)).toBe(16_000);
});

test("what is wanted by an earlier time than it waits for comes earlier, and never later", async () => {
  const { set, alarms, store } = timers();
  await set.by("push", 5_000);
  await set.by("push", 9_000);
  await set.by("push", 1_000);
  expect(store.timers()).toEqual([{ name: "push", due: 1_000, tries: 0 }]);
  expect(alarms).toEqual([5_000, 1_000]);
});
