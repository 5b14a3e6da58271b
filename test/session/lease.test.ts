import { expect, test } from "vitest";
import { claim, retryAfter } from "../../src/session/lease.ts";

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
