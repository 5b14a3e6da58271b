import { describe, expect, it } from "vitest";
import type { CallRecord, SessionApi, SessionId } from "../../src/session/contract.ts";
import type { SessionListQuery } from "../../src/session/list.ts";
import { type Entry, encodeEntry } from "../../src/values/entry.ts";
import { BOB, door, refusal } from "./stand-ins.ts";

const made = { v: 1, origin: "runtime", at: 1_000, turn: "turn_1" } as const;
const text = (text: string) => [{ type: "text", text }] as const;

/** One entry of each kind, with everything in it that must not be shown as `hidden-…`. */
const ENTRIES: Entry[] = [
  { ...made, origin: "client", kind: "user", content: text("convert 3 miles") },
  {
    ...made,
    kind: "assistant",
    model: "anthropic/claude",
    chain: "hidden-chain",
    epoch: 1,
    blocks: [
      { type: "thinking", text: "units", raw: '{"signature":"hidden-signature"}' },
      { type: "opaque", raw: '{"redacted":"hidden-redacted"}' },
      { type: "text", text: "Looking." },
      { type: "call", id: "call_1", name: "tool_search", input: '{"query":"miles"}' },
    ],
    stop: "calls",
  },
  {
    ...made,
    kind: "results",
    of: 2,
    results: [
      {
        call: "call_1",
        name: "tool_search",
        status: "ok",
        content: text("Loaded convert."),
        details: { addedToolNames: ["hidden-details"] },
      },
    ],
  },
  { ...made, kind: "host_search", call: "hidden-load-point", names: ["clock"], place: { at: "after", seq: 3 } },
  { ...made, kind: "rewind", to: 1, why: "regenerate" },
  { ...made, kind: "system_update", text: "hidden-instructions" },
];

const call: CallRecord = {
  turn: "turn_1",
  step: 2,
  at: 2_000,
  model: "anthropic/claude",
  chain: "anthropic/claude#plan",
  epoch: 3,
  verdict: { prefix: "break", cause: "mode" },
  place: null,
  hash: "abcd",
  segments: 7,
  deferredHash: "ef01",
  bytes: 900,
  end: 4,
  answered: true,
  usage: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 },
};

/** As an older version kept it, and with all there is now. */
const CALLS: CallRecord[] = [
  { ...call, step: 1, verdict: { prefix: "first" } },
  {
    ...call,
    ...{ items: 5, tools: 2, deferred: 1, message: "hidden-message" },
    provider: { missReason: "tools_changed", missedTokens: 80 },
  },
];

const summary = {
  conversation: "abc",
  agent: "assistant",
  title: "Miles",
  mode: "agent",
  createdAt: 1_000,
  updatedAt: 2_000,
  entries: ENTRIES.length,
  status: "done" as const,
  running: false,
  forkedFrom: { id: "older", at: 2 },
};

/** Alice's session `abc` with the first agent; nobody else has any. */
function withSession(calls: string[] = []) {
  return door({
    sessions: ({ owner, agent, conversation }: SessionId): Partial<SessionApi> => {
      if (owner !== "alice" || agent !== "assistant" || conversation !== "abc") return {};
      return {
        summary: async () => summary,
        entries: async (after, limit) => {
          const rows = ENTRIES.map((entry, index) => [index + 1, encodeEntry(entry)] as const);
          const page = rows.slice(after, after + limit);
          return { entries: page, next: after + limit < rows.length ? after + limit : null };
        },
        calls: async (after, limit) => {
          const next = after + limit < CALLS.length ? after + limit : null;
          return { calls: CALLS.slice(after, after + limit), next };
        },
        stop: async () => calls.push("stop") > 0,
        remove: async () => calls.push("remove") > 0,
      };
    },
  });
}

const ROUTES = [
  ["GET", "/api/sessions/:id"],
  ["DELETE", "/api/sessions/:id"],
  ["GET", "/api/sessions/:id/entries"],
  ["GET", "/api/sessions/:id/ledger"],
  ["POST", "/api/sessions/:id/stop"],
] as const;

describe("a session", () => {
  it("can be read, stopped and deleted by its owner", async () => {
    const calls: string[] = [];
    const { fetch } = withSession(calls);
    const { conversation, ...rest } = summary;
    expect(await (await fetch("/api/sessions/abc")).json()).toEqual({ id: conversation, ...rest });
    expect(await (await fetch("/api/sessions/abc/stop", { method: "POST" })).json()).toEqual({
      id: "abc",
      stopping: true,
    });
    expect(await (await fetch("/api/sessions/abc", { method: "DELETE" })).json()).toEqual({ id: "abc", deleted: true });
    expect(calls).toEqual(["stop", "remove"]);
  });

  it.each(ROUTES)("is not found by another owner: %s %s", async (method, route) => {
    const path = route.replace(":id", "abc");
    const response = await withSession().fetch(path, { method, headers: { authorization: `Bearer ${BOB}` } });
    expect(await refusal(response)).toMatchObject({ status: 404, code: "not_found" });
  });

  it.each(ROUTES)("is not found where it is another agent's: %s /agents/other%s", async (method, route) => {
    const response = await withSession().fetch(`/agents/other${route.replace(":id", "abc")}`, { method });
    expect(response.status).toBe(404);
  });

  it.each(ROUTES)("can't have such an id: %s %s", async (method, route) => {
    const response = await withSession().fetch(route.replace(":id", "a%20b"), { method });
    expect(await refusal(response)).toMatchObject({ status: 400, param: "id" });
  });
});

describe("the entries of a session", () => {
  it("show what was said and done, host searches as the runtime's", async () => {
    const body = await (await withSession().fetch("/api/sessions/abc/entries")).json();
    const shown = { at: 1_000, turn: "turn_1", origin: "runtime" };
    expect(body).toEqual({
      entries: [
        { seq: 1, ...shown, origin: "client", kind: "user", content: text("convert 3 miles") },
        {
          seq: 2,
          ...shown,
          kind: "assistant",
          model: "anthropic/claude",
          stop: "calls",
          content: [
            { type: "thinking", text: "units" },
            { type: "text", text: "Looking." },
            { type: "call", id: "call_1", name: "tool_search", input: '{"query":"miles"}' },
          ],
        },
        {
          seq: 3,
          ...shown,
          kind: "results",
          results: [{ call: "call_1", name: "tool_search", status: "ok", content: text("Loaded convert.") }],
        },
        { seq: 4, ...shown, kind: "host_search", by: "runtime", names: ["clock"] },
        { seq: 5, ...shown, kind: "rewind", to: 1, why: "regenerate" },
        { seq: 6, ...shown, kind: "system_update" },
      ],
    });
    expect(JSON.stringify(body)).not.toContain("hidden");
  });

  it("come in pages", async () => {
    const { fetch } = withSession();
    const seen: number[] = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const response: Response = await fetch(`/api/sessions/abc/entries?limit=4&after=${after}`);
      const page: { entries: { seq: number }[]; next?: number } = await response.json();
      seen.push(...page.entries.map(({ seq }) => seq));
      after = page.next;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it.each(["limit=0", "limit=501", "limit=x", "after=-1", "after=1.5"])("can't be asked for with %s", async (query) => {
    const response = await withSession().fetch(`/api/sessions/abc/entries?${query}`);
    expect(await refusal(response)).toMatchObject({ status: 400, param: query.split("=")[0] });
  });
});

describe("the ledger of a session", () => {
  const shown = {
    ...{ turn: "turn_1", at: 2_000, model: "anthropic/claude", chain: "anthropic/claude#plan", epoch: 3 },
    ...{ place: null, hash: "abcd", segments: 7, deferredHash: "ef01", answered: true, purpose: "answer" },
    usage: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 },
  };

  it("shows hashes, counts and causes, whichever version noted them", async () => {
    expect(await (await withSession().fetch("/api/sessions/abc/ledger")).json()).toEqual({
      calls: [
        {
          ...{ ...shown, step: 1, prefix: "first", provider: null },
          sizes: { bytes: 900, items: null, inlineTools: null, deferred: null },
        },
        {
          ...{ ...shown, step: 2, prefix: "break; cause=mode" },
          sizes: { bytes: 900, items: 5, inlineTools: 2, deferred: 1 },
          provider: { missReason: "tools_changed", missedTokens: 80 },
        },
      ],
    });
  });

  it("comes in pages", async () => {
    const { fetch } = withSession();
    const first = (await (await fetch("/api/sessions/abc/ledger?limit=1")).json()) as { calls: object[]; next: number };
    expect(first).toMatchObject({ calls: [{ step: 1 }], next: 1 });
    const last = await (await fetch(`/api/sessions/abc/ledger?limit=1&after=${first.next}`)).json();
    expect(last).toMatchObject({ calls: [{ step: 2 }] });
    expect(last).not.toHaveProperty("next");
  });
});

describe("the list of sessions", () => {
  it("is that of the caller with the agent of the path, a page at a time", async () => {
    const asked: SessionListQuery[] = [];
    const { running: _, status: _status, ...listed } = summary;
    const { fetch } = door({
      deps: {
        listSessions: async (_db, query) => {
          asked.push(query);
          return query.cursor === null ? { sessions: [listed], next: "c1" } : { sessions: [], next: null };
        },
      },
    });
    const { conversation, ...rest } = listed;
    expect(await (await fetch("/api/sessions?limit=1")).json()).toEqual({
      sessions: [{ id: conversation, ...rest }],
      next: "c1",
    });
    const headers = { authorization: `Bearer ${BOB}` };
    expect(await (await fetch("/agents/other/api/sessions?cursor=c1", { headers })).json()).toEqual({ sessions: [] });
    expect(asked).toEqual([
      { owner: "alice", agent: "assistant", limit: 1, cursor: null },
      { owner: "bob", agent: "other", limit: 100, cursor: "c1" },
    ]);
  });
});
