import { describe, expect, test } from "vitest";
import { effectiveContext } from "../../src/context/effective.ts";
import { type Found, type Plan, planTurn } from "../../src/session/begin.ts";
import type { BeginRequest } from "../../src/session/contract.ts";
import { decodeEntry, type Entry, encodeEntry } from "../../src/values/entry.ts";
import { ToolDeferrals } from "../../src/values/tool-deferrals.ts";
import { answer, compaction, hostSearch, numbered, results, user } from "../context/entries.ts";
import { beginRequest } from "./session.ts";

const id = { owner: "ada", agent: "assistant", conversation: "c" };

function plan(
  entries: readonly Entry[],
  status: Found["newest"]["status"],
  request: Partial<BeginRequest>,
  fields: {
    deferrals?: string;
    clientSystem?: string;
    instructions?: { text: string; revision: number };
    turn?: string;
    refusedFrom?: number;
  } = {},
): Plan {
  const all = numbered(...entries);
  const userSeq = all.findLast(({ entry }) => entry.kind === "user")?.seq ?? 0;
  return planTurn(
    {
      all,
      lastSeq: all.length,
      deferrals: ToolDeferrals.parse(fields.deferrals ?? null, "s"),
      clientSystem: fields.clientSystem ?? null,
      instructions: fields.instructions ?? null,
      partial: () => [],
      newest: { turn: fields.turn ?? "t", userSeq, status, refusedFrom: fields.refusedFrom ?? null },
    },
    beginRequest({ id }, { turn: "new", ...request }),
    5,
  );
}

const asks = (text: string) => ({ user: encodeEntry(user(text, "new")) });
const appended = ({ append }: Plan) => append.map(decodeEntry);
const sent = (...texts: readonly string[]) =>
  texts.map((text, index) => ({ role: index % 2 === 0 ? ("user" as const) : ("assistant" as const), text }));

describe("a turn on a session whose turn has ended", () => {
  const history = [user("one"), answer("1"), user("two"), answer("2")];

  test("appends its user entry where the surface only appends", () => {
    const { userSeq, append, resumed } = plan(history, "done", asks("two"));
    expect({ userSeq, resumed, append }).toEqual({ userSeq: 5, resumed: false, append: [asks("two").user] });
  });

  test("answers the newest question anew: a rewind, and no user entry", () => {
    const made = plan(history, "done", { ...asks("two"), sent: sent("one", "1", "two") });
    expect(made.userSeq).toBe(3);
    expect(appended(made)).toMatchObject([{ kind: "rewind", to: 4, why: "regenerate" }]);
  });

  test("puts an edited question in the place of the old one", () => {
    const made = plan(history, "done", { ...asks("2?"), sent: sent("one", "1", "2?") });
    expect(made.userSeq).toBe(6);
    expect(appended(made)).toMatchObject([{ kind: "rewind", to: 3, why: "edited" }, { kind: "user" }]);
  });

  test("takes a question with another image for another question", () => {
    const image = { type: "image", source: { type: "blob", hash: "h", media: "image/png" } } as const;
    const withImage = { ...user("two"), content: [{ type: "text", text: "two" }, image] } as Entry;
    const made = plan(history, "done", { user: encodeEntry(withImage), sent: sent("one", "1", "two") });
    expect(appended(made)).toMatchObject([{ kind: "rewind", why: "edited" }, { kind: "user" }]);
  });

  test("tells the model a client's new system text before the message, once", () => {
    const first = plan(history, "done", { ...asks("three"), clientSystem: "Be brief." }, { clientSystem: "Be kind." });
    expect(appended(first)).toMatchObject([
      { kind: "system_update", origin: "client", text: "Be brief." },
      { kind: "user" },
    ]);
    expect(first.userSeq).toBe(6);
    const later = [...history, ...appended(first), answer("3")];
    const same = plan(later, "done", { ...asks("four"), clientSystem: "Be brief." }, { clientSystem: "Be kind." });
    expect(appended(same)).toMatchObject([{ kind: "user" }]);
    const none = plan(later, "done", { ...asks("four"), clientSystem: null }, { clientSystem: "Be kind." });
    expect(appended(none)).toMatchObject([{ kind: "user" }]);
  });

  test("tells a regenerated question anew where the system text before it has changed", () => {
    const request = { ...asks("two"), sent: sent("one", "1", "two"), clientSystem: "Be brief." };
    const made = plan(history, "done", request);
    expect(appended(made)).toMatchObject([{ kind: "rewind", to: 3 }, { kind: "system_update" }, { kind: "user" }]);
    expect(made.userSeq).toBe(7);
  });

  test("closes calls that were left without a result", () => {
    const made = plan([user("one"), answer("", "t", "c1")], "stopped", asks("two"));
    expect(appended(made)).toMatchObject([
      { kind: "results", of: 2, turn: "t", results: [{ call: "c1", status: "interrupted" }] },
      { kind: "user" },
    ]);
    expect(made.userSeq).toBe(4);
  });
});

describe("a turn after one that failed", () => {
  test("answers the same message on its entry, with what the failed turn had done", () => {
    const history = [user("one"), answer("let me see", "t", "c1"), results(2, "c1")];
    for (const request of [asks("one"), { ...asks("one"), sent: sent("one") }]) {
      expect(plan(history, "failed", request)).toMatchObject({ userSeq: 1, append: [], resumed: false });
    }
  });

  test("takes back the piece of an answer that broke off", () => {
    const made = plan([user("one"), answer("half an")], "failed", asks("one"));
    expect(made.userSeq).toBe(1);
    expect(appended(made)).toMatchObject([{ kind: "rewind", to: 2 }]);
  });

  test("appends another message", () => {
    const made = plan([user("one")], "failed", { ...asks("two"), sent: sent("two") });
    expect(made).toMatchObject({ userSeq: 2, append: [asks("two").user] });
  });
});

describe("a turn after one that died", () => {
  const history = [user("one"), answer("let me see", "t", "c1", "c2")];

  test("resumes it when the same message comes again; its batch is still to be closed", () => {
    for (const request of [asks("one"), { ...asks("one"), sent: sent("one") }]) {
      expect(plan(history, "dead", request)).toEqual({
        resumed: true,
        sends: false,
        userSeq: 1,
        append: [],
        reset: false,
        mode: null,
      });
    }
    expect(plan([...history, results(2, "c1", "c2")], "dead", asks("one"))).toMatchObject({
      resumed: true,
      sends: true,
    });
  });

  test("closes its calls with one results entry before another message", () => {
    const made = plan(history, "dead", asks("two"));
    expect(made).toMatchObject({ resumed: false, userSeq: 4 });
    expect(appended(made)).toMatchObject([
      {
        kind: "results",
        of: 2,
        results: [
          { call: "c1", status: "interrupted" },
          { call: "c2", status: "interrupted" },
        ],
      },
      { kind: "user" },
    ]);
  });

  test("has nothing to repair where the answer was whole", () => {
    const whole = [user("one"), answer("1")];
    expect(plan(whole, "dead", asks("one"))).toMatchObject({ resumed: false, append: [asks("one").user] });
    const again = plan(whole, "dead", { ...asks("one"), sent: sent("one") });
    expect(appended(again)).toMatchObject([{ kind: "rewind", to: 2, why: "regenerate" }]);
  });
});

describe("a rewind and the deferrals", () => {
  const history = [user("one"), answer("", "t", "c1"), results(2, "c1"), answer("1"), user("two"), answer("2")];
  const loadedAt = (call: string) => JSON.stringify({ initial: ["clock"], loadPoints: { late: call } });

  test("leaves them where every load point is still there", () => {
    const request = { ...asks("2?"), sent: sent("one", "1", "2?") };
    expect(plan(history, "done", request, { deferrals: loadedAt("c1") }).reset).toBe(false);
    const host = [...history.slice(0, 5), hostSearch("h", { at: "before", seq: 5 }), answer("2")];
    expect(plan(host, "done", request, { deferrals: loadedAt("h") }).reset).toBe(false);
  });

  test("resets them where it took a load point", () => {
    const request = { ...asks("two"), sent: sent("one", "1", "two") };
    const late = [...history.slice(0, 5), answer("", "t2", "c2"), results(6, "c2"), answer("2", "t2")];
    expect(plan(late, "done", request, { deferrals: loadedAt("c2") }).reset).toBe(true);
    expect(plan(late, "done", asks("three"), { deferrals: loadedAt("c2") }).reset).toBe(false);
  });
});

test.each([
  ["regenerated", "done", [user("one"), answer("1"), user("two"), answer("2"), compaction([4], { before: 4 })]],
  ["asked again", "failed", [user("one"), answer("1"), user("two"), answer("2"), compaction([4], { before: 4 })]],
  [
    "the newest of a fork",
    "stopped",
    [user("one"), answer("1"), user("two"), answer("", "t", "c"), results(4, "c"), compaction([], { before: 9 })],
  ],
] as const)("a question that a compaction left out is there when it is %s", (_, status, entries) => {
  const made = plan(entries, status, { ...asks("two"), sent: sent("one", "1", "two") });
  const left = effectiveContext(numbered(...entries, ...appended(made)));
  expect(left.map(({ seq }) => seq)).toContain(made.userSeq);
});

test("a rewind that takes a compaction back starts the deferrals anew, though ids from before it look the same", () => {
  const counted = [user("one"), answer("", "t", "c0"), results(2, "c0"), answer("1"), user("two"), answer("2")];
  const since = [compaction([]), user("three"), answer("", "t", "c0"), results(9, "c0"), answer("3")];
  const deferrals = JSON.stringify({ initial: ["tool_search"], loadPoints: { weather: "c0" } });
  const request = { ...asks("2?"), sent: sent("one", "1", "2?") };
  expect(plan([...counted, ...since], "done", request, { deferrals }).reset).toBe(true);
  expect(plan(counted, "done", request, { deferrals }).reset).toBe(false);
});
