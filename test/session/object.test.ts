import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BeginRequest, EntryRow } from "../../src/session/contract.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import {
  append,
  assistant,
  begin,
  beginRequest,
  call,
  callRecord,
  INSTRUCTIONS,
  item,
  MODEL,
  results,
  say,
  session,
  user,
  wholeTurn,
} from "./session.ts";

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd({ entry: "test/session/worker.ts" });
});
afterAll(() => workerd?.dispose());

let conversations = 0;
const open = () => session(workerd, `object-${conversations++}`);

describe("a session that does not exist", () => {
  test("reads as nothing, and asking for it stores nothing", async () => {
    const unknown = open();
    expect(await unknown.summary()).toBeNull();
    expect(await unknown.entries(0, 10)).toBeNull();
    expect(await unknown.calls(0, 10)).toBeNull();
    expect(await unknown.stop()).toBe(false);
    expect(await unknown.remove()).toBe(false);
    expect(await unknown.beat(1)).toBe("lost");
    expect(await unknown.context(1)).toBeNull();
    expect(await append(unknown, { fence: 1, turn: "t1", lastSeq: 0 })).toEqual({ kind: "lost" });
    await unknown.flushed();
    expect(await unknown.tables()).toEqual([]);
  });

  test("begins with the client's messages and system text", async () => {
    const fresh = open();
    const seed = [user("one", "s"), assistant("s", [say("1")])];
    const start = await begin(fresh, { seed, user: user("two"), clientSystem: "Be kind." });
    expect(start).toMatchObject({ userSeq: 3, lastSeq: 3, sentThrough: 0, clientSystem: "Be kind.", broken: null });
    expect(start.entries.map(([, text]) => text)).toEqual([...seed, user("two")]);
    expect(await fresh.summary()).toMatchObject({ title: "two", entries: 3, running: true });
  });
});

describe("a turn", () => {
  test("of one step writes at most 8 rows, its flush included", async () => {
    const one = open();
    await wholeTurn(one, "t1", "hello", "hi");
    await one.flushed();
    await one.written();
    await wholeTurn(one, "t2", "and now?", "now this");
    await one.flushed();
    expect(await one.written()).toBeLessThanOrEqual(8);
  });

  test("finds in the next process what the last one knew", async () => {
    const one = open();
    await wholeTurn(one, "t1", "hello", "hi");
    await workerd.fresh();
    const start = await begin(one, { turn: "t2", user: user("more", "t2") });
    expect(start).toMatchObject({
      instructions: INSTRUCTIONS,
      deferrals: '{"initial":["clock","tool_search"],"loadPoints":{}}',
      sentThrough: 1,
      newestAssistant: 2,
      nextEpoch: 2,
      chain: { epoch: 1, prefix: '{"tools":[ ]}', deferred: ['{"name":"weather"}'], anchor: 0, cut: false },
    });
    expect(start.chain?.last).toEqual({ hash: "hash of t1", segments: 3 });
    expect(start.entries.map(([seq]) => seq)).toEqual([2, 3]);
  });

  test("that is stopped learns it by its next beat, in whichever process the session is", async () => {
    const one = open();
    const { fence } = await begin(one);
    expect(await one.beat(fence)).toBe("go");
    expect(await one.stop()).toBe(true);
    await workerd.fresh();
    expect(await one.beat(fence)).toBe("cancel");
  });

  test("reads the tools' evidence and its last success from the effective context", async () => {
    const one = open();
    const start = await begin(one);
    await append(one, start, {
      kind: "answer",
      entries: [assistant("t1", [call("c1", "tool_search"), call("c2", "x")])],
    });
    const batch = results("t1", 2, [
      { call: "c1", name: "tool_search", details: { addedToolNames: ["weather"] } },
      { call: "c2", name: "x", status: "error" },
    ]);
    await append(one, { ...start, lastSeq: 2 }, { kind: "results", entries: [batch], sentThrough: 3 });
    await append(one, { ...start, lastSeq: 3 }, { entries: [assistant("t1", [say("done")])] });
    const next = await begin(one, { turn: "t2", user: user("more") });
    expect(next).toMatchObject({ lastSuccess: { call: "c1", seq: 3 }, sentThrough: 3, newestAssistant: 4 });
    expect(next.evidence).toEqual([{ name: "weather", seq: 3 }]);
  });
});

describe("appends", () => {
  test("that come again change nothing and answer the same", async () => {
    const one = open();
    const start = await begin(one);
    const answer = { kind: "answer", entries: [assistant("t1", [call("c1", "x")])], call: callRecord("t1") } as const;
    const first = await append(one, start, answer);
    expect(first).toEqual({ kind: "ok", lastSeq: 2 });
    expect(await append(one, start, answer)).toEqual(first);
    expect((await one.entries(0, 10))?.entries).toHaveLength(2);
    expect((await one.calls(0, 10))?.calls).toHaveLength(1);
  });

  test("under a stale fence are refused, and so is its beat", async () => {
    const one = open();
    const old = await begin(one, { leaseSeconds: 0.05 });
    const taken = await begin(one, { turn: "t2", user: user("other", "t2"), busy: "wait" });
    expect(taken.fence).toBeGreaterThan(old.fence);
    expect(await append(one, old, { entries: [assistant("t1", [say("late")])] })).toEqual({ kind: "lost" });
    expect(await one.beat(old.fence)).toBe("lost");
    expect((await one.entries(0, 10))?.entries).toHaveLength(2);
  });

  test("that do not follow what is stored are refused whole", async () => {
    const one = open();
    const start = await begin(one);
    const gap = append(one, { ...start, lastSeq: 5 }, { entries: [assistant("t1", [say("a")])] });
    await expect(gap).rejects.toThrow("does not follow entry 1");
    expect(await one.summary()).toMatchObject({ entries: 1, running: true });
  });

  test("with malformed deferrals are refused whole", async () => {
    const one = open();
    const start = await begin(one);
    const bad = append(one, start, { kind: "before", deferrals: "{" });
    await expect(bad).rejects.toThrow(/tool deferrals of session .*object-\d+.* are malformed/);
    expect(await append(one, start)).toEqual({ kind: "ok", lastSeq: 1 });
  });

  test("that end a turn leave the deferrals alone, ten times over", async () => {
    const one = open();
    for (let turn = 1; turn <= 10; turn++) await wholeTurn(one, `t${turn}`, `question ${turn}`, "answer");
    await one.flushed();
    const written = (await one.statements()).filter((statement) => statement.includes("SET tool_deferrals"));
    expect(written).toHaveLength(1);
    expect(await begin(one, { turn: "t11", user: user("last") })).toMatchObject({
      deferrals: '{"initial":["clock","tool_search"],"loadPoints":{}}',
    });
  });
});

describe("two turns on one session", () => {
  test("race for it: one has it, the other is told to come back", async () => {
    const one = open();
    const both = ["t1", "t2"].map((turn) => one.begin(beginRequest(one, { turn, minted: false })));
    const answers = await Promise.all(both);
    expect(answers.map(({ kind }) => kind).sort()).toEqual(["busy", "go"]);
    expect((await one.entries(0, 10))?.entries).toHaveLength(1);
    const busy = answers.find(({ kind }) => kind === "busy");
    expect(busy).toMatchObject({ retryAfter: 15 });
  });

  test("follow each other when the second waits", async () => {
    const one = open();
    const first = await begin(one);
    const second = begin(one, { turn: "t2", user: user("next", "t2"), busy: "wait" });
    await append(one, first, { entries: [assistant("t1", [say("a")])] });
    expect(await second).toMatchObject({ turn: "t2", userSeq: 3 });
  });

  test("the second can make the first stop", async () => {
    const one = open();
    const first = await begin(one);
    const second = begin(one, { turn: "t2", user: user("next", "t2"), busy: "interrupt" });
    await expect.poll(() => one.beat(first.fence), { interval: 5 }).toBe("cancel");
    await append(one, first, { entries: [assistant("t1", [say("a")])], end: { status: "stopped" } });
    expect(await second).toMatchObject({ turn: "t2", userSeq: 3 });
  });

  test("a begin that is repeated because its answer was lost appends nothing and answers the same", async () => {
    const one = open();
    await wholeTurn(one, "t1", "hello", "hi");
    const first = await begin(one, { turn: "t2", user: user("next", "t2") });
    await workerd.fresh();
    expect(await begin(one, { turn: "t2", user: user("next", "t2") })).toEqual(first);
  });
});

describe("a turn whose isolate died", () => {
  test("is resumed by the same message: its batch comes back, split by what may run again", async () => {
    const one = open();
    const dead = await begin(one, { leaseSeconds: 0.05 });
    const calls = [call("c1", "tool_search"), call("c2", "send_mail")];
    await append(one, dead, { kind: "answer", step: 1, entries: [assistant("t1", calls, "calls")] });
    // Its request died with it a second time: nothing more counts as sent, for nothing was.
    await begin(one, { turn: "t2", busy: "wait", leaseSeconds: 0.05 });
    const resumed = await begin(one, { turn: "t3", busy: "wait" });
    expect(resumed).toMatchObject({
      ...{ turn: "t1", resumed: true, userSeq: 1, lastSeq: 2, step: 1, sentThrough: 1 },
      pending: { seq: 2, calls: ["c1"], interrupted: ["c2"] },
    });
    expect(resumed.entries.map(([seq]) => seq)).toEqual([1, 2]);
    const closed = results("t1", 2, [{ call: "c1" }, { call: "c2", status: "interrupted" }]);
    expect(await append(one, resumed, { kind: "results", entries: [closed] })).toEqual({ kind: "ok", lastSeq: 3 });
  });

  test("is closed by another message: one results entry, all interrupted", async () => {
    const one = open();
    const dead = await begin(one, { leaseSeconds: 0.05 });
    await append(one, dead, { kind: "answer", entries: [assistant("t1", [call("c1", "x")], "calls")] });
    const next = await begin(one, { turn: "t2", user: user("other", "t2"), busy: "wait" });
    expect(next).toMatchObject({ turn: "t2", resumed: false, userSeq: 4, pending: null, step: 0 });
    expect(next.entries.map(([, text]) => JSON.parse(text).kind)).toEqual(["user", "assistant", "results", "user"]);
  });

  test("has a whole lease again when only the session's process died", async () => {
    const one = open();
    const { fence } = await begin(one, { leaseSeconds: 0.3 });
    await workerd.fresh();
    expect(await one.begin(beginRequest(one, { turn: "t2" }))).toMatchObject({ kind: "busy" });
    expect(await one.beat(fence)).toBe("go");
  });
});

describe("chains", () => {
  const chain = (fields: object) => ({ key: MODEL, epoch: 1, open: null, deferred: [], items: [], ...fields });
  const opening = { verdict: { prefix: "first" }, revision: 1, prefix: "{}", base: null };

  /** Two turns; the first request carried entry 1, the second 1 to 3. */
  async function twoTurns() {
    const one = open();
    await wholeTurn(one, "t1", "one", "1");
    await wholeTurn(one, "t2", "two", "2");
    return one;
  }
  const sent = (...texts: readonly string[]) =>
    texts.map((text, index) => ({ role: index % 2 === 0 ? ("user" as const) : ("assistant" as const), text }));

  test("an answer that is given anew goes on from all that was sent", async () => {
    const one = await twoTurns();
    const start = await begin(one, { turn: "t3", user: user("two"), sent: sent("one", "1", "two") });
    expect(start).toMatchObject({ userSeq: 3, broken: null, entries: [], chain: { cut: false, anchor: 2 } });
  });

  test("an edited question cuts what was sent after it: a new epoch on what is left", async () => {
    const one = await twoTurns();
    const start = await begin(one, { turn: "t3", user: user("2?", "t3"), sent: sent("one", "1", "2?") });
    expect(start).toMatchObject({ userSeq: 6, broken: "rewind", nextEpoch: 2 });
    expect(start.chain).toMatchObject({ epoch: 1, cut: true, anchor: 0, last: null });
    expect(start.chain?.items).toHaveLength(2);
    expect(start.entries.map(([seq]) => seq)).toEqual([6]);
    const open = { ...opening, base: { epoch: 1, items: 2 } };
    await append(one, start, {
      entries: [assistant("t3", [say("3")])],
      chain: chain({ epoch: 2, open, deferred: ['{"name":"weather"}', '{"name":"tides"}'], items: [item(6, "x")] }),
      call: callRecord("t3", { epoch: 2, answered: false, end: 2, hash: "lost" }),
    });
    const next = await begin(one, { turn: "t4", user: user("more", "t4") });
    expect(next).toMatchObject({ broken: null, nextEpoch: 3, chain: { epoch: 2, cut: false, anchor: 0 } });
    expect(next.chain?.items.map((text) => JSON.parse(text).seq)).toEqual([1, 2, 6]);
    expect(next.chain?.deferred).toEqual(['{"name":"weather"}', '{"name":"tides"}']);
    // A request that nobody answered is not what the next one is held against.
    expect(next.chain?.last).toBeNull();
  });

  test("another model is a chain of its own, and going back resumes the first", async () => {
    const one = await twoTurns();
    const other = { model: "openai/gpt-5", perMode: false };
    const start = await begin(one, { turn: "t3", user: user("three", "t3"), chain: other });
    expect(start).toMatchObject({ chain: null, broken: "model", nextEpoch: 1 });
    expect(start.entries).toHaveLength(5);
    await append(one, start, {
      entries: [assistant("t3", [say("3")])],
      chain: chain({ key: other.model, open: opening, items: [item(1, "x")] }),
    });
    const back = await begin(one, { turn: "t4", user: user("four", "t4") });
    expect(back).toMatchObject({ broken: null, chain: { key: MODEL, epoch: 1, anchor: 2 } });
    expect(back.entries.map(([seq]) => seq)).toEqual([4, 5, 6, 7]);
  });

  test("a model whose modes are chains of their own breaks by mode", async () => {
    const one = await twoTurns();
    const start = await begin(one, { turn: "t3", chain: { model: MODEL, perMode: true } });
    expect(start).toMatchObject({ chain: null, broken: "mode", nextEpoch: 1 });
  });

  test("a rewind that takes a load point with it ends all epochs and starts the deferrals anew", async () => {
    const one = await twoTurns();
    const start = await begin(one, { turn: "t3", user: user("three", "t3") });
    await append(one, start, { kind: "answer", entries: [assistant("t3", [call("c1", "tool_search")], "calls")] });
    await append(
      one,
      { ...start, lastSeq: 6 },
      {
        kind: "results",
        entries: [results("t3", 6, [{ call: "c1", name: "tool_search" }])],
        deferrals: '{"initial":["clock"],"loadPoints":{"late":"c1"}}',
      },
    );
    await append(one, { ...start, lastSeq: 7 }, { entries: [assistant("t3", [say("3")])] });
    const request = { user: user("three"), sent: sent("one", "1", "two", "2", "three") };
    const rewound = await begin(one, { turn: "t4", ...request });
    expect(rewound).toMatchObject({ deferrals: null, chain: null, broken: "rewind", nextEpoch: 2, lastSuccess: null });
    const db = await workerd.d1();
    await expect
      .poll(() =>
        db.prepare("SELECT tool_deferrals FROM sessions WHERE conversation = ?").bind(one.id.conversation).first(),
      )
      .toEqual({ tool_deferrals: null });
  });
});

describe("an object that resets in mid-call", () => {
  test.each(["before", "after"] as const)("%s the work was done is asked again, and does it once", async (when) => {
    const one = open();
    await wholeTurn(one, "t0", "hello", "hi");
    await one.resetWithin(when);
    const start = await begin(one, { turn: "t1", user: user("next", "t1") });
    expect(start).toMatchObject({ turn: "t1", resumed: false, userSeq: 3, lastSeq: 3 });
    await one.resetWithin(when);
    const answer = await append(one, start, { entries: [assistant("t1", [say("there")])] });
    expect(answer).toEqual({ kind: "ok", lastSeq: 4 });
    expect((await one.entries(0, 10))?.entries).toHaveLength(4);
    expect(await one.summary()).toMatchObject({ running: false });
  });
});

describe("a request of a newer worker", () => {
  test("that the object does not know is refused before anything is stored, and the worker tells its caller to come back", async () => {
    const one = open();
    const newer = { ...beginRequest(one), v: 2 } as unknown as BeginRequest;
    await expect(one.begin(newer)).rejects.toThrow("can't be reached right now");
    expect(await one.tables()).toEqual([]);
  });
});

describe("large texts", () => {
  test("of several megabytes are kept in rows under 1 MB and come back as they were", async () => {
    const one = open();
    const text = `${"語".repeat(600_000)}😀"\\`;
    const base64 = "A".repeat(2_500_000);
    const start = await begin(one, {
      user: JSON.stringify({
        ...JSON.parse(user(text)),
        content: [
          { type: "text", text },
          { type: "image", source: { type: "blob", hash: "h1", media: "image/png" } },
        ],
      }),
      blobs: [{ hash: "h1", media: "image/png", base64 }],
    });
    const big = item(1, "b".repeat(1_500_000));
    await append(one, start, {
      entries: [assistant("t1", [say("seen")])],
      chain: {
        key: MODEL,
        epoch: 1,
        open: { verdict: { prefix: "first" }, revision: 1, prefix: "p", base: null },
        deferred: [],
        items: [big],
      },
    });
    await workerd.fresh();
    const next = await begin(one, { turn: "t2" });
    expect(next.chain?.items).toEqual([big]);
    expect(next.blobs).toEqual([{ hash: "h1", media: "image/png", base64 }]);
    const first: EntryRow | undefined = (await one.entries(0, 1))?.entries[0];
    expect(JSON.parse(first?.[1] ?? "").content[0].text).toBe(text);
    const { bytes, parts } = await one.longestText();
    expect(bytes).toBeLessThan(1_000_000);
    expect(parts).toBeGreaterThan(3);
  });

  test("that together pass what one RPC answer may hold come in pages, in order", async () => {
    const one = open();
    const texts = Array.from({ length: 4 }, (_, n) => user(`${n}${"x".repeat(3_000_000)}`));
    const start = await begin(one, { seed: texts });
    expect(start.entries.map(([seq, text]) => [seq, text.length])).toEqual([
      ...texts.map((text, index) => [index + 1, text.length]),
      [5, user("hello").length],
    ]);
    const context = await one.context(start.fence);
    expect(context?.entries).toEqual(start.entries);
    const { entries, next } = (await one.entries(0, 10)) ?? { entries: [], next: null };
    expect({ count: entries.length, next }).toEqual({ count: 2, next: 2 });
  });

  test("that are more than one call of an object carries are refused readably, before they are sent", async () => {
    const one = open();
    const blobs = (megabytes: number) => [
      { hash: "h1", media: "image/png", base64: "A".repeat(megabytes * 1024 * 1024) },
    ];
    await expect(one.begin(beginRequest(one, { blobs: blobs(33) }))).rejects.toThrow(
      "This request is too large to be stored at once: 34 MB, where 31 MB fit.",
    );
    expect(await one.tables()).toEqual([]);
    const start = await begin(one, { blobs: blobs(30) });
    await expect(append(one, start, { blobs: blobs(33) })).rejects.toThrow("What this turn has done is too large");
    expect(await append(one, start)).toEqual({ kind: "ok", lastSeq: 1 });
  });
});
