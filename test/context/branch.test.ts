import { describe, expect, test } from "vitest";
import { entriesBefore, finishedEntries, survives } from "../../src/context/branch.ts";
import { effectiveContext } from "../../src/context/effective.ts";
import type { Entry, Place } from "../../src/values/entry.ts";
import { ToolDeferrals } from "../../src/values/tool-deferrals.ts";
import { answer, compaction, hostSearch, numbered, results, rewind, seqs, user } from "./entries.ts";

const loadedAt = (id: string) =>
  ToolDeferrals.parse(JSON.stringify({ initial: ["clock"], loadPoints: { late: id } }), "s");

test("deferrals go with a history that holds the call of every load point, with its result", () => {
  const history = numbered(user("a"), answer("", "t", "c1"), results(2, "c1"));
  expect(survives(loadedAt("c1"), history)).toBe(true);
  expect(survives(loadedAt("c2"), history)).toBe(false);
  expect(survives(loadedAt("c1"), history.slice(0, 2))).toBe(false);
});

test("a host search is such a call", () => {
  const history = numbered(user("a"), answer("b"), hostSearch("h", { at: "after", seq: 2 }));
  expect(survives(loadedAt("h"), history)).toBe(true);
});

test("a call that a client brought is none", () => {
  const [asked, called, answered] = numbered(user("a"), answer("", "t", "c1"), results(2, "c1"));
  if (!asked || !called || !answered) throw new Error("three entries");
  const brought = { ...called, entry: { ...called.entry, origin: "client" } as typeof called.entry };
  expect(survives(loadedAt("c1"), [asked, brought, answered])).toBe(false);
});

test("a baseline without load points always goes along", () => {
  expect(survives(ToolDeferrals.parse('{"initial":[],"loadPoints":{}}', "s"), [])).toBe(true);
});

describe("a fork", () => {
  const forked = (at: number, ...entries: readonly Entry[]) => {
    const taken = entriesBefore(numbered(...entries), at);
    return taken === null ? null : seqs(taken);
  };
  const two = [user("a"), answer("b"), user("c"), answer("d")];

  test("has what stands before its message, and not the message", () => {
    expect([0, 1, 2].map((at) => forked(at, ...two))).toEqual([[], [1, 2], null]);
    expect(forked(-1, ...two)).toBeNull();
    expect(forked(0)).toBeNull();
  });

  test("counts what users said and no rewind took back, and leaves out what one did, and the rewind", () => {
    const edited = [...two, rewind(3), user("e"), answer("f")];
    expect(forked(1, ...edited)).toEqual([1, 2]);
    expect(forked(2, ...edited)).toBeNull();
    const internal: Entry = { ...user("the plan"), origin: "runtime" };
    expect(forked(1, user("a"), answer("b"), internal, answer("c"), user("d"))).toEqual([1, 2, 3, 4]);
  });

  test("takes a host search where it stands, whenever it was made", () => {
    const search = (place: Place) => hostSearch("h", place);
    expect(forked(1, ...two, search({ at: "before", seq: 3 }))).toEqual([1, 2, 5]);
    expect(forked(1, ...two, search({ at: "attach", seq: 2 }))).toEqual([1, 2, 5]);
    expect(forked(1, ...two, search({ at: "after", seq: 2 }))).toEqual([1, 2, 5]);
    expect(forked(1, ...two, search({ at: "after", seq: 4 }))).toEqual([1, 2]);
    expect(forked(1, ...two, search({ at: "attach", seq: 4 }))).toEqual([1, 2]);
  });

  test("takes a compaction that was made for that message, and none that speaks of it", () => {
    expect(forked(1, ...two, compaction([3, 4], { before: 3 }))).toEqual([1, 2, 5]);
    expect(forked(1, ...two, compaction([3, 4], { before: 4 }))).toEqual([1, 2]);
    expect(forked(1, ...two, compaction([3, 4]))).toEqual([1, 2]);
  });

  test("takes results with their call", () => {
    const called = [user("a"), answer("", "t", "c1"), results(2, "c1"), answer("b"), user("c")];
    expect(forked(1, ...called)).toEqual([1, 2, 3, 4]);
  });
});

describe("a clone", () => {
  const of = (running: string | null, ...entries: readonly Entry[]) =>
    seqs(finishedEntries(numbered(...entries), running));

  test("of an idle session has everything, what was taken back included", () => {
    expect(of(null, user("a"), answer("b"), rewind(2), answer("c"))).toEqual([1, 2, 3, 4]);
  });

  test("has a running turn's finished steps, and not the answer whose calls still run", () => {
    const done = [user("a", "t1"), answer("b", "t1"), user("c", "t"), answer("", "t", "c1"), results(4, "c1")];
    expect(of("t", ...done)).toEqual([1, 2, 3, 4, 5]);
    expect(of("t", ...done, answer("", "t", "c2"))).toEqual([1, 2, 3, 4, 5]);
  });

  test("has none of a turn that finished no step, nor what it took back, but what stands before it", () => {
    const idle = [user("a", "t1"), answer("b", "t1")];
    expect(of("t", ...idle, user("c", "t"))).toEqual([1, 2]);
    expect(of("t", ...idle, user("c", "t"), answer("", "t", "c1"))).toEqual([1, 2]);
    expect(of("t", ...idle, rewind(2))).toEqual([1, 2]);
    expect(of("t", ...idle, user("c", "t"), hostSearch("h", { at: "before", seq: 3 }))).toEqual([1, 2, 4]);
    expect(of("t", ...idle, user("c", "t"), hostSearch("h", { at: "attach", seq: 2 }))).toEqual([1, 2, 4]);
    expect(of("t", ...idle, user("c", "t"), hostSearch("h", { at: "after", seq: 3 }))).toEqual([1, 2]);
    expect(of("t", ...idle, user("c", "t"), compaction([3], { before: 3 }))).toEqual([1, 2, 4]);
    expect(of("t", ...idle, user("c", "t"), compaction([3]))).toEqual([1, 2]);
  });

  test("has the finished steps that a compaction of the running turn left out", () => {
    const done = [user("a", "t1"), answer("b", "t1"), user("c", "t"), answer("", "t", "c1"), results(4, "c1")];
    expect(of("t", ...done, compaction([3]))).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("has what the running turn took back in place of a compaction that knows nothing of it", () => {
    const idle = [user("a", "t1"), answer("b", "t1"), user("c", "t2"), answer("d", "t2")];
    const edited = numbered(...idle, rewind(3), user("e", "t"), compaction([6], { before: 6 }));
    expect(seqs(effectiveContext(finishedEntries(edited, "t")))).toEqual([1, 2, 3, 4]);
  });
});
