import { describe, expect, test } from "vitest";
import { inParts, planCompaction } from "../../src/context/compaction.ts";
import { effectiveContext, uncompacted } from "../../src/context/effective.ts";
import type { Entry, Numbered } from "../../src/values/entry.ts";
import { answer, compaction, hostSearch, numbered, results, rewind, seqs, user } from "./entries.ts";

const LONG = "x".repeat(4_000);
const LONG_TOKENS = 1_100;

function plan(entries: readonly Entry[], budget: number, given: { asked?: number } = {}) {
  const context = effectiveContext(numbered(...entries));
  return planCompaction(context, { budget, asked: given.asked ?? null });
}

describe("an effective context after a compaction", () => {
  const before = [user("a"), answer("b"), user("c"), answer("", "t", "c1"), results(4, "c1"), answer("d")];

  test("begins with it, then comes what it kept, then what was said since", () => {
    expect(seqs(effectiveContext(numbered(...before, compaction([3, 6]), user("e"), answer("f"))))).toEqual([
      7, 3, 6, 8, 9,
    ]);
  });

  test("knows the newest alone of several", () => {
    expect(
      seqs(effectiveContext(numbered(...before, compaction([3, 6]), user("e"), compaction([8]), user("f")))),
    ).toEqual([9, 8, 10]);
  });

  test("is what it was again where a rewind goes back to before it", () => {
    expect(seqs(effectiveContext(numbered(...before, compaction([6]), user("e"), rewind(6), user("g"))))).toEqual([
      1, 2, 3, 4, 5, 10,
    ]);
  });

  test("is still compacted where a rewind goes back to after it", () => {
    expect(seqs(effectiveContext(numbered(...before, compaction([6]), user("e"), rewind(8), user("g"))))).toEqual([
      7, 6, 10,
    ]);
  });

  test("has what hangs on a kept entry at its place, whenever it came", () => {
    const late = hostSearch("h", { at: "attach", seq: 4 });
    expect(seqs(effectiveContext(numbered(...before, compaction([3, 4, 5]), late, user("e"))))).toEqual([
      7, 3, 4, 5, 8, 9,
    ]);
  });

  test("hides nothing from the one whose conversation it is", () => {
    expect(seqs(uncompacted(numbered(...before, compaction([6]), user("e"))))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe("what a compaction keeps", () => {
  test("is nothing where there is no room, and null where all would stay", () => {
    const entries = [user("a"), answer("b"), user("c"), answer("d")];
    expect(plan(entries, 0)?.kept).toEqual([]);
    expect(plan(entries, 100_000)).toBeNull();
  });

  test("is whole last steps: a call is never cut from its result, nor a search of ours from its step", () => {
    const entries = [
      ...[user(LONG), answer("", "t", "c1"), results(2, "c1")],
      ...[answer("", "t", "c2"), results(4, "c2"), hostSearch("h", { at: "attach", seq: 4 })],
    ];
    for (let budget = 0; budget < 1_000; budget += 10) {
      const kept = plan(entries, budget)?.kept ?? [];
      expect([[], [4, 5, 6], [2, 3, 4, 5, 6]]).toContainEqual(kept);
    }
    expect(plan(entries, 1_000)?.kept).toEqual([2, 3, 4, 5, 6]);
  });

  test("is the newest user messages too, whose answers are left out", () => {
    const step = [answer(LONG), user("next")];
    expect(plan([user("first"), ...step, ...step, answer(LONG)], 500)?.kept).toEqual([1, 3, 5]);
  });

  test("is the message that the running turn answers, however long it is", () => {
    const entries = [user("a"), answer(LONG), user(LONG, "running"), answer("", "running", "c1"), results(4, "c1")];
    expect(plan(entries, 10, { asked: 3 })?.kept).toEqual([3]);
    expect(plan(entries, LONG_TOKENS + 1_000, { asked: 3 })?.kept).toContain(4);
  });

  test("leaves half of the room to what the user said", () => {
    const steps = [answer(LONG), answer(LONG), answer(LONG)];
    expect(plan([user(LONG), user(LONG), ...steps], 4 * LONG_TOKENS)?.kept).toEqual([1, 2, 4, 5]);
  });

  test("is never an earlier compaction or a system update: both are part of what comes next", () => {
    const system: Entry = { v: 1, at: 0, origin: "client", turn: "t", kind: "system_update", text: "Be brief." };
    const entries = [user("a"), answer(LONG), compaction([1]), user("b"), answer("c"), system, user("d")];
    expect(plan(entries, 1_000)?.kept ?? "all").toBe("all");
    expect(plan([...entries, answer(LONG)], 1_000)?.kept).toEqual([1, 4, 7]);
  });

  test("a host search before a message stays with the message", () => {
    const entries = [user("a"), answer(LONG), user("b"), hostSearch("h", { at: "before", seq: 3 }), answer("c")];
    expect(plan(entries, 400)?.kept).toEqual([1, 3, 4, 5]);
  });
});

test("whatever is compacted and rewound, every call has its result and every result its call", () => {
  const random = (seed: number) => () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  for (let seed = 1; seed <= 300; seed += 1) {
    const next = random(seed);
    const all: Numbered[] = [];
    const add = (entry: Entry) => all.push({ seq: all.length + 1, entry });
    for (let step = 0; step < 30; step += 1) {
      const drawn = next();
      if (drawn < 0.3) add(user("x".repeat(next() * 300)));
      else if (drawn < 0.6) {
        add(answer("", "t", `c${all.length}`));
        add(results(all.length, `c${all.length - 1}`));
      } else if (drawn < 0.75) add(answer("y".repeat(1 + next() * 300)));
      else if (drawn < 0.9) {
        const made = planCompaction(effectiveContext(all), { budget: next() * 300, asked: null });
        const before = Math.min(...(made?.tail ?? []));
        if (made !== null)
          add(compaction(made.kept, before < Number.POSITIVE_INFINITY && next() < 0.5 ? { before } : {}));
      } else if (all.length > 0) add(rewind(1 + Math.floor(next() * all.length)));
      const context = effectiveContext(all);
      const answered = new Set(context.flatMap(({ entry }) => (entry.kind === "results" ? [entry.of] : [])));
      const calling = context.flatMap(({ seq, entry }) =>
        entry.kind === "assistant" && entry.stop === "calls" ? [seq] : [],
      );
      // A rewind may cut between the two: repair closes that.
      if (!all.some(({ entry }) => entry.kind === "rewind")) expect([...answered]).toEqual(calling);
      expect(calling).toEqual(expect.arrayContaining([...answered]));
      const parts = inParts(context, next() * 300);
      expect(parts.flat()).toEqual(context);
      for (const part of parts) {
        const there = new Set(seqs(part));
        expect(part.every(({ entry }) => entry.kind !== "results" || there.has(entry.of))).toBe(true);
      }
    }
  }
});
