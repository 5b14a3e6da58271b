import { describe, expect, test } from "vitest";
import { effectiveContext, openBatch } from "../../src/context/effective.ts";
import type { Entry } from "../../src/values/entry.ts";
import { answer, compaction, hostSearch, numbered, results, rewind, seqs, user } from "./entries.ts";

const order = (...entries: readonly Entry[]) => seqs(effectiveContext(numbered(...entries)));

describe("effective context", () => {
  test("without rewinds it is everything, in order", () => {
    expect(order(user("a"), answer("b", "t", "c1"), results(2, "c1"), answer("d"))).toEqual([1, 2, 3, 4]);
  });

  test("a rewind takes back what stands from its target up to itself, and what follows it counts", () => {
    expect(order(user("a"), answer("b"), user("c"), answer("d"), rewind(3), user("e"))).toEqual([1, 2, 6]);
  });

  test("a second rewind can go back behind the first", () => {
    expect(order(user("a"), answer("b"), rewind(2), answer("c"), rewind(1), user("d"))).toEqual([6]);
  });

  test("an answer of which nothing is left is no message", () => {
    expect(order(user("a"), answer(""), answer(" \n"), user("b"))).toEqual([1, 4]);
  });

  test("results stand right after their calls, whatever was stored in between", () => {
    expect(order(user("a"), answer("", "t", "c1"), user("b"), results(2, "c1"))).toEqual([1, 2, 4, 3]);
  });

  test("an attached host search follows the batch's results", () => {
    const entries = [user("a"), answer("", "t", "c1"), results(2, "c1"), hostSearch("h", { at: "attach", seq: 2 })];
    expect(order(...entries, user("b"))).toEqual([1, 2, 3, 4, 5]);
    expect(order(user("a"), answer("b"), user("c"), hostSearch("h", { at: "attach", seq: 2 }))).toEqual([1, 2, 4, 3]);
  });

  test("a host search stands right before or right after the entry it names, several by number", () => {
    const ahead = (call: string) => hostSearch(call, { at: "before", seq: 3 });
    const behind = (call: string) => hostSearch(call, { at: "after", seq: 2 });
    const entries = [user("a"), answer("b"), user("c"), ahead("h1"), behind("h2"), ahead("h3"), behind("h4")];
    expect(order(...entries)).toEqual([1, 2, 5, 7, 4, 6, 3]);
  });

  test("what hangs on an entry that was cut goes with it, however late it was stored", () => {
    const entries = [user("a"), answer("b"), user("c"), answer("d"), user("e")];
    const attached = hostSearch("h1", { at: "attach", seq: 4 });
    const after = hostSearch("h2", { at: "after", seq: 6 });
    expect(order(...entries, attached, after, rewind(3), user("f"))).toEqual([1, 2, 9]);
  });

  test("what stands before the entry at which a cut starts survives it, and keeps its place", () => {
    const entries = [user("a"), answer("b"), user("c"), hostSearch("h", { at: "before", seq: 3 }), answer("d")];
    expect(order(...entries, rewind(3), user("e"))).toEqual([1, 2, 4, 7]);
    expect(order(...entries, rewind(2), user("e"))).toEqual([1, 7]);
  });

  test("a compaction stands before the first entry that its summary knows nothing of", () => {
    const entries = [user("a"), answer("b"), user("c"), compaction([3], { before: 3 }), answer("d")];
    expect(order(...entries)).toEqual([4, 3, 5]);
    expect(order(...entries, rewind(5))).toEqual([4, 3]);
    expect(order(...entries, rewind(3), user("e"))).toEqual([4, 7]);
    expect(order(...entries, rewind(2), user("e"))).toEqual([1, 7]);
  });

  test("a compaction whose summary speaks of all before it goes with any of it", () => {
    const entries = [user("a"), answer("b"), user("c"), compaction([3]), answer("d")];
    expect(order(...entries, rewind(3), user("e"))).toEqual([1, 2, 7]);
    expect(order(...entries, rewind(5), user("e"))).toEqual([4, 3, 7]);
  });

  test("a regenerated answer keeps the host search that stands before its question", () => {
    const entries = [user("a"), answer("b"), user("c"), hostSearch("h", { at: "before", seq: 3 }), answer("d")];
    expect(order(...entries, rewind(4))).toEqual([1, 2, 4, 3]);
  });
});

describe("open batch", () => {
  test("is the newest answer with calls while it has no results", () => {
    const open = numbered(user("a"), answer("", "t", "c1"), results(2, "c1"), answer("", "t", "c2"));
    expect(openBatch(open)?.seq).toBe(4);
    expect(openBatch([...open, ...numbered(results(4, "c2")).map((entry) => ({ ...entry, seq: 5 }))])).toBeNull();
    expect(openBatch(numbered(user("a"), answer("b")))).toBeNull();
  });
});
