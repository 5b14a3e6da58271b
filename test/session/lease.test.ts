import { expect, test } from "vitest";
import { claim, retryAfter, watched } from "../../src/session/lease.ts";

const running = { status: "running", attempt: "t1" };

test("a session whose turn has ended is free", () => {
  expect(claim({ status: "failed", attempt: "t1" }, 1_000, "t2", 0)).toEqual({ kind: "free" });
});

test("a running turn keeps the session until its lease runs out", () => {
  expect(claim(running, 1_000, "t2", 999)).toEqual({ kind: "busy", until: 1_000 });
  expect(claim(running, 1_000, "t2", 1_000)).toEqual({ kind: "takeover" });
});

test("the begin that holds the session is known again, even late", () => {
  expect(claim(running, 1_000, "t1", 500)).toEqual({ kind: "again" });
  expect(claim(running, 1_000, "t1", 5_000)).toEqual({ kind: "again" });
});

test("a caller is told whole seconds, at least one", () => {
  expect(retryAfter(1_500, 0)).toBe(2);
  expect(retryAfter(0, 1_500)).toBe(1);
});

const silent = { status: "running", cancel: 0, attempts: 1, parent: null };

test("a turn whose lease still runs is looked at again when it has run out", () => {
  expect(watched(silent, 1_000, true, 999)).toEqual({ kind: "alive", until: 1_000 });
});

test("a turn whose isolate is silent goes on as another attempt, and not without end", () => {
  expect(watched(silent, 1_000, true, 1_000)).toEqual({ kind: "goes_on", attempts: 2 });
  const over = watched({ ...silent, attempts: 3 }, 1_000, true, 1_000);
  expect(over).toMatchObject({ kind: "over", status: "failed", end: { failure: { limit: "attempts" } } });
});

test("a turn that was told to stop is over once its isolate is silent", () => {
  const cancelled = { ...silent, cancel: 1, attempts: 3 };
  expect(watched(cancelled, 1_000, true, 999)).toEqual({ kind: "alive", until: 1_000 });
  expect(watched(cancelled, 1_000, false, 1_000)).toMatchObject({ kind: "over", status: "stopped" });
});

test("a sub-session's turn that nobody can be asked to go on with is over, for no message comes to it", () => {
  const sub = { ...silent, parent: "parent" };
  expect(watched(sub, 1_000, false, 999)).toEqual({ kind: "alive", until: 1_000 });
  expect(watched(sub, 1_000, false, 1_000)).toMatchObject({ kind: "over", status: "failed" });
  expect(watched(sub, 1_000, true, 1_000)).toEqual({ kind: "goes_on", attempts: 2 });
});

test("a turn that nobody can be asked to go on with is left to the next message", () => {
  expect(watched(silent, 1_000, false, 1_000)).toEqual({ kind: "rest" });
  expect(watched({ ...silent, status: "done" }, 1_000, true, 1_000)).toEqual({ kind: "rest" });
});
