import { describe, expect, test } from "vitest";
import { carriedTools } from "../../src/catalog/carried-tools.ts";
import { effectiveContext } from "../../src/context/effective.ts";
import type { Entry } from "../../src/values/entry.ts";
import { answer, compaction, numbered, user } from "../context/entries.ts";

describe("tools that are carried over", () => {
  const used = (name: string, status: "ok" | "error" = "ok", turn = "running"): Entry => ({
    ...{ v: 1, at: 0, origin: "runtime", turn, kind: "results", of: 2 },
    results: [{ call: "c1", name, status, content: [{ type: "text", text: "done" }] }],
  });
  const carried = (results: Entry, ...more: Entry[]) => {
    const entries = numbered(user("a"), answer("", "running", "c1"), results, ...more);
    return carriedTools(entries, more.length > 0 ? [1, 4, 5] : [1], "running");
  };

  test("are those that succeeded in the running turn and of which nothing is left", () => {
    expect(carried(used("weather"))).toEqual(["weather"]);
  });

  test("are not those that failed, of an earlier turn, or only searched for", () => {
    expect(carried(used("weather", "error"))).toEqual([]);
    expect(carried(used("weather", "ok", "before"))).toEqual([]);
    const found: Entry = {
      ...{ v: 1, at: 0, origin: "runtime", turn: "running", kind: "results", of: 2 },
      results: [{ call: "c1", name: "tool_search", status: "ok", content: [], details: { addedToolNames: ["news"] } }],
    };
    expect(carried(found)).toEqual([]);
  });

  test("are not those that what stays speaks of anyway", () => {
    const step: Entry[] = [answer("", "running", "c2"), { ...used("weather"), of: 4 } as Entry];
    expect(carried(used("weather"), ...step)).toEqual([]);
  });

  test("are carried on by the next compaction of the same turn, and not by one of a later turn", () => {
    const first = compaction([], { turn: "running", carriedToolNames: ["weather"] });
    const entries = effectiveContext(numbered(user("a"), answer("b"), first, user("c"), answer("d")));
    expect(carriedTools(entries, [4], "running")).toEqual(["weather"]);
    expect(carriedTools(entries, [4], "later")).toEqual([]);
  });
});
