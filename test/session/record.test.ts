import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { listSessions } from "../../src/session/list.ts";
import { copyToRecord, entomb, type Unflushed } from "../../src/session/record.ts";
import type { SessionRow } from "../../src/session/store.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import {
  append,
  assistant,
  begin,
  beginRequest,
  call,
  item,
  MODEL,
  results,
  say,
  session,
  user,
  wholeTurn,
} from "./session.ts";

const entry = "test/session/worker.ts";
const TABLES = [
  "sessions",
  "entries",
  "epochs",
  "frozen",
  "items",
  "calls",
  "texts",
  "endings",
  "blobs",
  "transcripts",
];

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd({ entry });
});
afterAll(() => workerd?.dispose());

let conversations = 0;
const open = () => session(workerd, `record-${conversations++}`);

/** All that D1 has of a session, table by table. */
async function dump(db: D1Database, conversation: string): Promise<unknown[]> {
  const tables = await db.batch(
    TABLES.map((table) => {
      const key = table === "sessions" ? "id" : table === "transcripts" ? "conversation" : "session";
      const name = key === "conversation" ? conversation : JSON.stringify(["ada", "assistant", conversation]);
      return db.prepare(`SELECT * FROM ${table} WHERE ${key} = ? ORDER BY 1, 2, 3`).bind(name);
    }),
  );
  return tables.map(({ results }) => results);
}

describe("a session whose object lost its storage", () => {
  test("is rebuilt from D1: the next turn starts from the same bytes", async () => {
    const instructions = JSON.stringify({ text: "Be exact.\u0000", revision: 1 });
    const one = open();
    const image = { type: "image", source: { type: "blob", hash: "h1", media: "image/png" } };
    const asked = { ...JSON.parse(user("look", "t1")), content: [{ type: "text", text: "look \ud800 語" }, image] };
    const start = await begin(one, {
      user: JSON.stringify(asked),
      blobs: [{ hash: "h1", media: "image/png", base64: "A".repeat(1_200_000) }],
      clientSystem: 'Be "kind" \udfff.',
    });
    const deferrals = '{"initial":["clock","tool_search"],"loadPoints":{"late":"c1"},"later":"kept"}';
    const prefix = '{"tools":["{\\"a\\": 1.0}"],"n":12345678901234567890}';
    await append(one, start, {
      kind: "answer",
      entries: [assistant("t1", [call("c1", "tool_search")], "calls")],
      instructions,
      chain: {
        key: MODEL,
        epoch: 1,
        open: { verdict: { prefix: "first" }, revision: 3, prefix, base: null },
        deferred: ['{"name":"weather", "z":1}'],
        items: [item(1, "a".repeat(700_000)), item(1, "\u0001h1\u0001")],
      },
    });
    const batch = results("t1", 2, [{ call: "c1", name: "tool_search", details: { addedToolNames: ["late"] } }]);
    await append(one, { ...start, lastSeq: 2 }, { kind: "results", entries: [batch], deferrals, sentThrough: 3 });
    await append(one, { ...start, lastSeq: 3 }, { entries: [assistant("t1", [say("seen")])] });
    await wholeTurn(one, "t2", "more", "and more");
    await one.flushed();

    const request = beginRequest(one, { turn: "t3", user: user("and now?", "t3"), minted: false });
    const { fence, ...kept } = { fence: 0, ...(await one.begin(request)) };
    await workerd.wipeObjects();
    const rebuilt = await one.begin(request);
    expect({ ...rebuilt, fence: 0 }).toEqual({ ...kept, fence: 0 });
    expect(rebuilt).toMatchObject({ kind: "go", deferrals, instructions, sentThrough: 5 });
    expect("fence" in rebuilt && rebuilt.fence).not.toBe(fence);
    expect((await one.entries(0, 100))?.entries).toHaveLength(7);
    expect((await one.calls(0, 100))?.calls).toHaveLength(1);
  });

  test("is read as it was, without a turn", async () => {
    const one = open();
    await wholeTurn(one, "t1", "hello", "hi");
    await one.flushed();
    const before = [await one.summary(), await one.entries(0, 10), (await one.calls(0, 10))?.calls];
    await workerd.wipeObjects();
    expect([await one.summary(), await one.entries(0, 10), (await one.calls(0, 10))?.calls]).toEqual(before);
  });

  test("goes on to be copied, under its new generation", async () => {
    const one = open();
    await wholeTurn(one, "t1", "hello", "hi");
    await one.flushed();
    await workerd.wipeObjects();
    await begin(one, { turn: "t2", user: user("more", "t2"), minted: false });
    await one.flushed();
    await workerd.wipeObjects();
    expect(await one.summary()).toMatchObject({ entries: 3 });
  });

  test("resumes at once a turn that was running: nothing of it can come any more", async () => {
    const one = open();
    const start = await begin(one);
    await append(one, start, { kind: "before", deferrals: '{"initial":[],"loadPoints":{}}' });
    await one.flushed();
    await workerd.wipeObjects();
    const resumed = await begin(one, { turn: "t2", minted: false });
    expect(resumed).toMatchObject({ turn: "t1", resumed: true, userSeq: 1 });
    expect(await append(one, start)).toEqual({ kind: "lost" });
  });

  test("can't be begun or read while D1 is down, and can again when it is back", async () => {
    const one = open();
    await wholeTurn(one, "t1", "hello", "hi");
    await one.flushed();
    await workerd.wipeObjects();
    await one.d1(false);
    const request = beginRequest(one, { turn: "t2", minted: false });
    expect(await one.begin(request)).toEqual({ kind: "unavailable" });
    await expect(one.summary()).rejects.toThrow("can't say right now");
    expect(await one.tables()).toEqual([]);
    await one.d1(true);
    expect(await one.begin(request)).toMatchObject({ kind: "go", lastSeq: 3 });
  });

  test("whose deferrals are malformed refuses the turn with an error that names it, and stores nothing", async () => {
    const one = open();
    await wholeTurn(one, "t1", "hello", "hi");
    await one.flushed();
    const db = await workerd.d1();
    await db
      .prepare("UPDATE sessions SET tool_deferrals = ? WHERE conversation = ?")
      .bind('{"initial":3}', one.id.conversation)
      .run();
    await workerd.wipeObjects();
    const refused = begin(one, { turn: "t2", user: user("more", "t2"), minted: false });
    await expect(refused).rejects.toThrow(
      `tool deferrals of session ["ada","assistant","${one.id.conversation}"] are malformed`,
    );
    expect(await one.summary()).toMatchObject({ entries: 2, running: false });
  });
});

describe("D1", () => {
  test("has changed deferrals while the turn is still running, and gets the column for nothing else", async () => {
    const one = open();
    const start = await begin(one);
    const first = '{"initial":["clock"],"loadPoints":{}}';
    await append(one, start, { kind: "before", deferrals: first });
    const db = await workerd.d1();
    const stored = () =>
      db.prepare("SELECT tool_deferrals FROM sessions WHERE conversation = ?").bind(one.id.conversation).first();
    await expect.poll(stored).toEqual({ tool_deferrals: first });
    let lastSeq = start.lastSeq;
    for (let step = 1; step <= 10; step++) {
      const id = `c${step}`;
      const answer = [assistant("t1", [call(id, "x")], "calls")];
      await append(one, { ...start, lastSeq }, { kind: "answer", step, entries: answer });
      const loadPoints = step < 7 ? { late: "c3" } : { late: "c3", later: "c7" };
      const changed = step === 3 || step === 7 ? { deferrals: JSON.stringify({ initial: ["clock"], loadPoints }) } : {};
      const batch = [results("t1", lastSeq + 1, [{ call: id }])];
      await append(one, { ...start, lastSeq: lastSeq + 1 }, { kind: "results", step, entries: batch, ...changed });
      if (step === 3) await one.flushed();
      lastSeq += 2;
    }
    await append(one, { ...start, lastSeq }, { step: 11, entries: [assistant("t1", [say("done")])] });
    await one.flushed();
    const writes = (await one.statements()).filter((statement) => statement.includes("SET tool_deferrals"));
    expect(writes).toHaveLength(3);
    expect((await one.statements()).filter((statement) => statement.includes("tool_deferrals"))).toHaveLength(3);
  });

  test("may be down for a turn: the next copy catches up", async () => {
    const one = open();
    await begin(one, { turn: "t0" });
    await one.d1(false);
    const start = await begin(one, { turn: "t0" });
    await append(one, start, { kind: "before", deferrals: '{"initial":[],"loadPoints":{}}' });
    await append(one, start, { entries: [assistant("t0", [say("hi")])] });
    await expect(one.flushed()).rejects.toThrow("D1 is down");
    await one.d1(true);
    await wholeTurn(one, "t1", "hello", "hi");
    await one.flushed();
    await workerd.wipeObjects();
    expect(await begin(one, { turn: "t2", user: user("more", "t2"), minted: false })).toMatchObject({ lastSeq: 5 });
  });

  test("may be down at a session's last turn: the alarm catches up, without anybody asking", async () => {
    const one = open();
    await wholeTurn(one, "t1", "hello", "hi");
    await one.flushed();
    await one.d1(false);
    await wholeTurn(one, "t2", "more", "and more");
    const copied = async () => {
      const db = await workerd.d1();
      const row = await db
        .prepare("SELECT entries FROM sessions WHERE conversation = ?")
        .bind(one.id.conversation)
        .first<{ entries: number }>();
      return row?.entries;
    };
    expect(await copied()).toBe(2);
    await vi.waitFor(async () => expect((await one.statements()).length).toBeGreaterThan(0));
    await one.d1(true);
    await vi.waitFor(async () => expect(await copied()).toBe(4), { timeout: 10_000, interval: 100 });
  });

  test("is not asked about an id that was minted for the request", async () => {
    const one = open();
    await one.d1(false);
    expect(await one.begin(beginRequest(one))).toMatchObject({ kind: "go" });
    expect(await one.statements()).toEqual([]);
  });

  test("takes a session of several megabytes", async () => {
    const one = open();
    const text = '"\\'.repeat(1_000_000);
    await begin(one, { seed: [user(text)], user: user(text) });
    await one.flushed();
    await workerd.wipeObjects();
    expect((await one.entries(0, 1))?.entries[0]?.[1]).toBe(user(text));
  });
});

describe("a record that is older than the deferrals", () => {
  test("has no baseline, and goes on", async () => {
    const old = await startWorkerd({ entry, migrations: (name) => !name.startsWith("0002") });
    try {
      const one = session(old, "old");
      const start = await begin(one);
      await append(one, start, { entries: [assistant("t1", [say("hi")])] });
      await one.flushed();
      await old.migrate();
      await old.wipeObjects();
      const next = await begin(one, { turn: "t2", user: user("more", "t2"), minted: false });
      expect(next).toMatchObject({ deferrals: null, lastSeq: 3, chain: null, broken: null });
      const deferrals = '{"initial":["clock"],"loadPoints":{}}';
      await append(one, next, { kind: "before", deferrals });
      await one.flushed();
      const row = await (await old.d1()).prepare("SELECT tool_deferrals FROM sessions").first();
      expect(row).toEqual({ tool_deferrals: deferrals });
    } finally {
      await old.dispose();
    }
  });
});

describe("the guard of the copy", () => {
  const row: SessionRow = {
    ...{ owner: "ada", agent: "assistant", conversation: "guard", title: "t", mode: "agent" },
    ...{ created_at: 1, updated_at: 2, generation: "g1", rev: 2, last_seq: 1, sent_through: 1, cuts: "[]" },
    ...{ deferrals: '{"initial":["a"],"loadPoints":{}}', deferrals_rev: 2, fence: 1, status: "done", turn: "t1" },
    ...{
      user_seq: 1,
      refused_from: 0,
      step: 1,
      attempts: 1,
      lease_seconds: 15,
      cancel: 0,
      attempt: "t1",
      sent_before: 0,
    },
    ...{ wire: "w/1", wire_before: "w/1" },
    ...{
      resumed: 0,
      last_append: "",
      flushed_rev: 0,
      flushed_seq: 0,
      recorded_rev: 0,
      refused: "[]",
      admitted: "[]",
      deleted_at: null,
    },
    ...{ forks: 0, forked_from: null, forked_at: null, keep_ms: null, parent: null },
    ...{ asked: "", body: "", began_at: 0, handed: 0, ended: "" },
  };
  const entries = (values: readonly unknown[]) => ({
    of: { table: "entries", columns: ["seq", "part", "rev", "text"], key: 2 },
    rows: [{ key: [1, 0], json: JSON.stringify(values) }],
    bytes: 100,
  });
  const first: Unflushed = { row, through: 2, rows: [entries([1, 0, 1, user("hello")])], calls: [], bytes: 4_096 };
  const second: Unflushed = {
    row: {
      ...row,
      rev: 3,
      last_seq: 2,
      deferrals: '{"initial":["b"],"loadPoints":{}}',
      deferrals_rev: 3,
      flushed_rev: 2,
      recorded_rev: 2,
    },
    through: 3,
    rows: [entries([2, 0, 3, user("more")])],
    calls: [],
    bytes: 8_192,
  };

  test("lets a repeat and a late copy change nothing", async () => {
    const db = await workerd.d1();
    await entombed(db);
    expect(await copyToRecord(db, first)).toMatchObject({ ours: true });
    expect(await copyToRecord(db, second)).toMatchObject({ ours: true });
    const after = await dump(db, "guard");
    for (const again of [first, second]) {
      expect(await copyToRecord(db, again)).toMatchObject({ ours: true });
      expect(await dump(db, "guard")).toEqual(after);
    }
  });

  test("refuses what an object sends after its session was rebuilt by another", async () => {
    const db = await workerd.d1();
    await entombed(db);
    await copyToRecord(db, first);
    await db.prepare("UPDATE sessions SET generation = 'g2' WHERE conversation = 'guard'").run();
    const after = await dump(db, "guard");
    expect(await copyToRecord(db, second)).toMatchObject({ ours: false });
    expect(await dump(db, "guard")).toEqual(after);
  });

  test("refuses what comes after the session was deleted", async () => {
    const db = await workerd.d1();
    await entombed(db);
    await copyToRecord(db, first);
    await entomb(db, row, 9);
    const after = await dump(db, "guard");
    expect(await copyToRecord(db, first)).toMatchObject({ ours: false });
    expect(await copyToRecord(db, second)).toMatchObject({ ours: false });
    expect(await dump(db, "guard")).toEqual(after);
  });

  test("leaves out of a rebuild what a copy that broke off had written", async () => {
    const one = open();
    await wholeTurn(one, "t1", "hello", "hi");
    await one.flushed();
    const db = await workerd.d1();
    await db
      .prepare("INSERT INTO entries (session, seq, part, rev, text) VALUES (?, 3, 0, 99, ?)")
      .bind(JSON.stringify(["ada", "assistant", one.id.conversation]), user("half"))
      .run();
    await workerd.wipeObjects();
    expect((await one.entries(0, 10))?.entries).toHaveLength(2);
    const { results } = await (await workerd.d1()).prepare("SELECT 1 FROM entries WHERE rev = 99").all();
    expect(results).toEqual([]);
  });

  /** No record and no tombstone of that session. */
  async function entombed(db: D1Database): Promise<void> {
    await db.batch([
      db.prepare("DELETE FROM sessions WHERE conversation = 'guard'"),
      db.prepare(`DELETE FROM entries WHERE session = '["ada","assistant","guard"]'`),
    ]);
  }
});

describe("a session that is removed", () => {
  test("leaves a tombstone without content, and its id is gone for good", async () => {
    const one = open();
    await wholeTurn(one, "t1", "a secret", "hi");
    await one.flushed();
    const start = await begin(one, { turn: "t2", user: user("running", "t2") });
    expect(await one.remove()).toBe(true);
    expect(await append(one, start, { entries: [assistant("t2", [say("late")])] })).toEqual({ kind: "lost" });
    expect(await one.beat(start.fence)).toBe("lost");
    expect(await one.tables()).toEqual([]);
    for (const fresh of [false, true]) {
      if (fresh) await workerd.fresh();
      expect(await one.begin(beginRequest(one, { turn: "t3", minted: false }))).toEqual({ kind: "gone" });
      expect(await one.summary()).toBeNull();
      expect(await one.remove()).toBe(false);
    }
    const [left, ...rest] = await dump(await workerd.d1(), one.id.conversation);
    expect(left).toHaveLength(1);
    expect(JSON.stringify(left)).not.toContain("a secret");
    expect(rest.every((rows) => Array.isArray(rows) && rows.length === 0)).toBe(true);
    const tombstone = await (await workerd.d1())
      .prepare("SELECT title, state, tool_deferrals, deleted_at > 0 AS deleted FROM sessions WHERE conversation = ?")
      .bind(one.id.conversation)
      .first();
    expect(tombstone).toEqual({ title: "", state: "{}", tool_deferrals: null, deleted: 1 });
  });

  test("is gone for a begin that waited for its turn", async () => {
    const one = open();
    await begin(one, { leaseSeconds: 60 });
    const waiting = one.begin(beginRequest(one, { turn: "t2", busy: "wait" }));
    await one.remove();
    expect(await waiting).toEqual({ kind: "gone" });
    expect(await one.tables()).toEqual([]);
  });

  test("while D1 is down refuses everything, and is deleted at the next touch", async () => {
    const one = open();
    const start = await begin(one);
    await one.d1(false);
    expect(await one.remove()).toBe(true);
    expect(await append(one, start)).toEqual({ kind: "lost" });
    expect(await one.begin(beginRequest(one, { turn: "t2" }))).toEqual({ kind: "gone" });
    expect(await one.summary()).toBeNull();
    expect(await one.tables()).not.toEqual([]);
    await one.d1(true);
    expect(await one.summary()).toBeNull();
    await expect.poll(() => one.tables()).toEqual([]);
  });
});

describe("the list of sessions", () => {
  test("is its owner's alone, the last used first, in pages", async () => {
    const db = await workerd.d1();
    const add = (owner: string, conversation: string, updated: number, deleted: number | null = null) =>
      db
        .prepare(
          `INSERT INTO sessions (id, owner, agent, conversation, title, mode, created_at, updated_at, entries,
             generation, rev, state, deleted_at) VALUES (?, ?, 'lister', ?, '', 'agent', 1, ?, 2, 'g', 1, '{}', ?)`,
        )
        .bind(`${owner} ${conversation}`, owner, conversation, updated, deleted);
    await db.batch([add("x", "a", 5), add("x", "b", 7), add("x", "c", 5), add("x", "d", 9, 9), add("y", "e", 8)]);
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const { sessions, next } = await listSessions(db, { owner: "x", agent: "lister", limit: 2, cursor });
      pages.push(sessions.map(({ conversation }) => conversation));
      cursor = next;
    } while (cursor !== null);
    expect(pages).toEqual([["b", "a"], ["c"]]);
    expect(await listSessions(db, { owner: "x", agent: "lister", limit: 2, cursor: "bad" })).toEqual({
      sessions: [],
      next: null,
    });
  });
});
