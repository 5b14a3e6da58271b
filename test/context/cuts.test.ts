import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutSpans, spansBetween } from "../../src/context/cuts.ts";
import { callsOf, effectiveContext, uncompacted } from "../../src/context/effective.ts";
import type { Entry, Numbered } from "../../src/values/entry.ts";
import { answer, compaction, hostSearch, numbered, results, rewind, seqs, user } from "./entries.ts";

describe("the cuts of a session", () => {
  const cut = (...entries: readonly Entry[]) => cutSpans(effectiveContext(numbered(...entries)), entries.length);

  test("are what a rewind took back, and the rewind, merged", () => {
    expect(cut(user("a"), answer("b"), user("c"), answer("d"))).toEqual([]);
    const again = [user("a"), answer("b"), rewind(2), answer("c"), rewind(2), answer("d")];
    expect(cut(...again)).toEqual([[2, 5]]);
    expect(cut(...again, user("e"), answer("f"), rewind(8))).toEqual([
      [2, 5],
      [8, 9],
    ]);
    expect(cut(...again, user("e"), rewind(1))).toEqual([[1, 8]]);
  });

  test("leave out what stands before the entry at which a rewind starts", () => {
    const entries = [user("a"), answer("b"), user("c"), hostSearch("h", { at: "before", seq: 3 }), answer("d")];
    expect(cut(...entries, rewind(3))).toEqual([
      [3, 3],
      [5, 6],
    ]);
  });

  test("and what lies between them are together all there is", () => {
    expect(spansBetween([], 3)).toEqual([[1, 3]]);
    expect(spansBetween([[1, 3]], 3)).toEqual([]);
    expect(spansBetween([[2, 5]], 9)).toEqual([
      [1, 1],
      [6, 9],
    ]);
    expect(spansBetween([], 0)).toEqual([]);
  });
});

/** What is appended next; `at` picks the effective entry it hangs on or the number a rewind goes back to. */
const step = fc.record({
  kind: fc.constantFrom(
    "user",
    "answer",
    "calls",
    "blank",
    "results",
    "attach",
    "before",
    "after",
    "compact",
    "rewind",
    "rewind",
  ),
  at: fc.nat(),
  /** What is not effective is not read from here on. */
  forgets: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

test("the effective context of what was not cut is that of everything, whatever is appended and wherever it is cut", () => {
  let survivors = 0;
  let compactions = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 4, maxLength: 30 }), (steps) => {
      let all: Numbered[] = [];
      let read: Numbered[] = [];
      for (const next of steps) {
        const seq = all.length + 1;
        const numbered = { seq, entry: entryOf(next, seq, effectiveContext(all)) };
        all = [...all, numbered];
        read = [...read, numbered];
        expect(seqs(effectiveContext(read))).toEqual(seqs(effectiveContext(all)));
        if (!next.forgets) continue;
        const kept = spansBetween(cutSpans(uncompacted(read), seq), seq);
        read = read.filter((one) => kept.some(([first, last]) => first <= one.seq && one.seq <= last));
        expect(seqs(effectiveContext(read))).toEqual(seqs(effectiveContext(all)));
        const there = new Set(seqs(read));
        survivors += read.filter(({ entry }) => entry.kind === "host_search" && !there.has(entry.place.seq)).length;
        compactions += read.filter(({ entry }) => entry.kind === "compaction" && !there.has(entry.before ?? 0)).length;
      }
    }),
    { numRuns: 3_000 },
  );
  expect(survivors).toBeGreaterThan(0);
  expect(compactions).toBeGreaterThan(0);
});

function entryOf({ kind, at }: Step, seq: number, effective: readonly Numbered[]): Entry {
  const one = (of: readonly Numbered[]) => of[at % of.length]?.seq;
  const users = effective.filter(({ entry }) => entry.kind === "user");
  const answers = effective.filter(({ entry }) => entry.kind === "assistant");
  const open = answers.filter(({ entry }) => entry.kind === "assistant" && callsOf(entry).length > 0);
  switch (kind) {
    case "user":
      return user(`${seq}`);
    case "answer":
      return answer(`${seq}`);
    case "calls":
      return answer("", "t", `c${seq}`);
    case "blank":
      return answer("");
    case "results":
      return results(one(open) ?? seq, `c${one(open) ?? seq}`);
    case "attach":
      return hostSearch(`h${seq}`, { at: "attach", seq: one(answers) ?? seq });
    case "before":
      return hostSearch(`h${seq}`, { at: "before", seq: one(users) ?? seq });
    case "after":
      return hostSearch(`h${seq}`, { at: "after", seq: one(effective) ?? seq });
    case "compact": {
      const before = one([...users, ...answers]);
      const kept = seqs(effective).filter((other) => other >= (before ?? 0) || other % 2 === at % 2);
      return compaction(kept, before === undefined ? {} : { before });
    }
    case "rewind":
      return rewind(1 + (at % seq));
  }
}
