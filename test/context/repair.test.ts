import { expect, test } from "vitest";
import { MISSING, repair } from "../../src/context/repair.ts";
import { answer, numbered, result, results, seqs, user } from "./entries.ts";

test("a context in order is left as it is, entry by entry", () => {
  const entries = numbered(user("a"), answer("", "t", "c1", "c2"), results(2, "c1", "c2"), answer("b"));
  const repaired = repair(entries);
  expect(repaired).toHaveLength(entries.length);
  for (const [index, { entry }] of repaired.entries()) expect(entry).toBe(entries[index]?.entry);
});

test("a call without a result gets a placeholder that says so, in the order of the calls", () => {
  const [, , batch] = repair(numbered(user("a"), answer("", "t", "c1", "c2"), results(2, "c2")));
  expect(batch?.entry).toMatchObject({
    kind: "results",
    of: 2,
    results: [
      { call: "c1", status: "missing", content: [{ type: "text", text: MISSING }] },
      { call: "c2", status: "ok" },
    ],
  });
});

test("a batch that has no results at all is closed right after its calls", () => {
  const repaired = repair(numbered(user("a"), answer("", "t", "c1"), user("b")));
  expect(repaired.map(({ entry }) => entry.kind)).toEqual(["user", "assistant", "results", "user"]);
});

test("the pending batch of a running turn is left alone", () => {
  expect(seqs(repair(numbered(user("a"), answer("", "t", "c1")), 2))).toEqual([1, 2]);
});

test("of two results for one call the first counts", () => {
  const entries = numbered(user("a"), answer("", "t", "c1"), results(2, "c1"), results(2, "c1"));
  const doubled = numbered(user("a"), answer("", "t", "c1"), {
    ...{ v: 1, origin: "runtime", at: 0, turn: "t", kind: "results", of: 2 },
    results: [result("c1", "first"), result("c1", "second")],
  });
  expect(seqs(repair(entries))).toEqual([1, 2, 3]);
  expect(repair(doubled)[2]?.entry).toMatchObject({ results: [{ content: [{ text: "first" }] }] });
});

test("results without a call go", () => {
  expect(seqs(repair(numbered(user("a"), results(1, "c0"), answer("b"))))).toEqual([1, 3]);
  const [, , batch] = repair(numbered(user("a"), answer("", "t", "c1"), results(2, "c1", "c9")));
  expect(batch?.entry).toMatchObject({ results: [{ call: "c1" }] });
});
