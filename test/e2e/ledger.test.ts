import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Span } from "../../src/index.ts";
import type { LedgerRow } from "../../src/session/ledger-row.ts";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import { type Answer, call, type RecordedRequest, say } from "../emulators/anthropic/index.ts";
import { declared, expectValid, type SayOptions, type Stage, startStage } from "./chat.ts";

/** Long enough to be cached. */
const INSTRUCTIONS = `You are brief. ${"There is much to know about the sea. ".repeat(200)}`;
const FIRST = { MODEL: "anthropic/claude-sonnet-5", INSTRUCTIONS, LATE: "", REVISION: "1", TRACE: "on" };

let stage: Stage;
/** A session's requests, with all that a ledger can tell of: loads, a late tool, another model, a withdrawn prompt. */
let requests: RecordedRequest[];
let calls: LedgerRow[];
beforeAll(async () => {
  stage = await startStage(FIRST);
  requests = await play("played");
  calls = await ledger("played");
});
afterAll(() => stage.close());

const deploy = (changes: Readonly<Record<string, string>> = {}) => stage.workerd.fresh({ ...FIRST, ...changes });
const search = (query: string) => call("tool_search", { query });

async function turn(conversation: string, text: string, answers: readonly Answer[], options: SayOptions = {}) {
  stage.model.script(...answers);
  const reply = await stage.say(conversation, text, options);
  expect(reply.error).toBeNull();
  const requests = stage.takeRequests();
  for (const request of requests) expectValid(request);
  return { requests, prefix: reply.headers.get("x-holdfast-prefix") };
}

async function ledger(conversation: string): Promise<LedgerRow[]> {
  return (await stage.get(`/api/sessions/${conversation}/ledger`)).body.calls;
}

const previous = (request: RecordedRequest | undefined): string | null =>
  JSON.parse(request?.bodyText ?? "{}").diagnostics.previous_message_id;

async function play(conversation: string): Promise<RecordedRequest[]> {
  const first = await turn(conversation, "weather?", [search("weather"), call("weather"), say("Rain.")]);
  await deploy({ LATE: "extra" });
  const second = await turn(conversation, "again", [call("extra"), say("Still rain.")]);
  await deploy({ LATE: "extra", MODEL: "anthropic/claude-opus-4-1" });
  const third = await turn(conversation, "elsewhere", [search("convert"), say("Loaded.")]);
  await deploy({ LATE: "extra" });
  const fourth = await turn(conversation, "and back", [call("convert"), say("Converted.")]);
  await deploy({ LATE: "extra", REVISION: "2", INSTRUCTIONS: `Be kind. ${INSTRUCTIONS}` });
  const fifth = await turn(conversation, "anew", [say("Kindly.")]);
  return [first, second, third, fourth, fifth].flatMap(({ requests }) => requests);
}

test("the ledger tells what each request read from the cache, and how it stands to the one before", async () => {
  expect(calls.map(({ usage }) => usage)).toEqual(
    requests.map(({ usage }) => ({
      input: usage?.input_tokens,
      cacheRead: usage?.cache_read_input_tokens,
      cacheWrite: usage?.cache_creation_input_tokens,
      output: expect.any(Number),
    })),
  );
  expect(calls.map(({ prefix }) => prefix)).toEqual([
    ...["first", "extends", "extends"],
    ...["extends", "extends"],
    ...["break; cause=model", "break; cause=late_inline"],
    ...["extends", "extends"],
    "break; cause=revoked",
  ]);
  for (const [index, { chain, prefix }] of calls.entries()) {
    const before = calls.slice(0, index).findLastIndex((other) => other.chain === chain);
    if (before < 0) continue;
    const why = whyNotExtends(requests[before]?.bodyText ?? "", requests[index]?.bodyText ?? "");
    expect(why === null).toBe(prefix === "extends");
    if (prefix === "extends") expect(calls[index]?.usage.cacheRead).toBeGreaterThan(1_000);
  }
  for (const [index, { sizes, answered, place, step }] of calls.entries()) {
    const { bodyText } = requests[index] ?? { bodyText: "" };
    const { inline, deferred } = declared(requests[index]);
    const messages: { content: unknown[] }[] = JSON.parse(bodyText).messages;
    expect(sizes).toEqual({
      bytes: Buffer.byteLength(bodyText),
      items: messages.flatMap(({ content }) => content).length,
      inlineTools: inline.length,
      deferred: deferred.length,
    });
    expect({ answered, place }).toEqual({ answered: true, place: null });
    expect(step).toBeGreaterThan(0);
  }
});

test("the provider is asked against the chain's last answer, and its finding stands beside ours", async () => {
  const asked = requests.map(previous);
  for (const [index, { chain, prefix, provider }] of calls.entries()) {
    const before = calls.slice(0, index).findLastIndex((other) => other.chain === chain);
    expect(asked[index]).toBe(before < 0 ? null : requests[before]?.messageId);
    const theirs = requests[index]?.cacheMissReason ?? null;
    if (before < 0) expect(provider).toBeNull();
    else if (theirs === null) expect(provider).toEqual({ missReason: null });
    else expect(provider).toMatchObject({ missReason: theirs.type, missedTokens: expect.any(Number) });
    if (prefix === "extends") expect(theirs).toBeNull();
  }
  expect(calls.flatMap(({ provider }) => provider?.missReason ?? [])).toEqual(["tools_changed", "system_changed"]);
});

test.for([
  ["items", "clock says noon", "clock says moon", "block 3"],
  ["frozen", "Always fails.", "Never fails.", "inline tool 2"],
  ["frozen", "There is much to know", "There is little to know", "system 0"],
  ["frozen", "claude-sonnet-5", "claude-sonnet-4-6", "settings"],
] as const)(
  "where stored bytes changed (%s: %s), the request is unexpected and its place is named, once",
  async (spoilt) => {
    const [table, what, by, place] = spoilt;
    const conversation = `spoilt-${place.replaceAll(" ", "-")}`;
    const told: unknown[] = [];
    const next = async () => {
      const { prefix } = await turn(conversation, "again", [say("Noon.")]);
      told.push([prefix, (await ledger(conversation)).at(-1)?.place]);
    };
    await turn(conversation, "time?", [[call("clock", { text: "noon" }), search("weather")], say("Noon.")]);
    await next();
    const statement = `UPDATE ${table} SET text = replace(text, '${what}', '${by}')`;
    await stage.object(conversation, "query", statement);
    await next();
    await next();
    expect(told).toEqual([
      ["extends", null],
      ["break; cause=unexpected", place],
      ["extends", null],
    ]);
  },
);

test("a turn of one step writes 7 rows, marks and diagnosis among them", async () => {
  await turn("rows", "hi", [say("Hello.")]);
  await stage.object("rows", "flushed");
  await stage.object("rows", "written");
  await turn("rows", "again", [say("Hello again.")]);
  await stage.object("rows", "flushed");
  expect(await stage.object("rows", "written")).toBe(7);
});

test("the ledger comes in pages, and is nobody else's", async () => {
  await turn("pages", "time?", [call("clock"), call("clock", { text: "2" }), say("Noon.")]);
  const steps: number[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { body } = await stage.get(`/api/sessions/pages/ledger?limit=2&after=${after}`);
    steps.push(...body.calls.map(({ step }: LedgerRow) => step));
    after = body.next;
  }
  expect(steps).toEqual([1, 2, 3]);
  for (const reply of [
    await stage.get("/api/sessions/pages/ledger", "bob"),
    await stage.get("/api/sessions/nowhere/ledger"),
    await stage.get("/agents/bare/api/sessions/pages/ledger"),
  ]) {
    expect([reply.status, reply.error?.code]).toEqual([404, "not_found"]);
  }
  expect((await stage.get("/api/sessions/pages/ledger?limit=0")).status).toBe(400);
});

test("the ledger names no tool, no load point and no message of the provider", async () => {
  const names = requests.flatMap((request) => Object.values(declared(request)).flat());
  const [stored] = await stage.object("played", "query", "SELECT deferrals FROM session");
  const { loadPoints }: { loadPoints: Record<string, string> } = JSON.parse(stored.deferrals);
  expect(Object.keys(loadPoints)).toEqual(["weather", "extra", "convert"]);
  const ids = requests.map(({ messageId }) => messageId ?? "none");
  const { body } = await stage.get("/api/sessions/played/ledger");
  const shown = JSON.stringify(body);
  for (const hidden of [...names, ...Object.values(loadPoints), ...ids, "hfs_", "hfl_", "toolu_", "msg_"]) {
    expect(shown).not.toContain(hidden);
  }
});

test("each model call is told to the hook, and each turn, model call and tool call is a span", async () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const caller = "00f067aa0ba902b7";
  const text = "secret-question";
  await turn(
    "watched",
    text,
    [[call("clock", { text: "secret-input" }, "call_1"), call("fail", {}, "call_2")], [say("secret-answer")]],
    { headers: { traceparent: `00-${traceId}-${caller}-01` } },
  );
  const lines = (event: string) =>
    stage.workerd.logs.filter((line) => line.includes(`"event":"${event}"`) && line.includes('"watched"'));
  await vi.waitFor(() => expect(lines("span")).toHaveLength(5));
  for (const line of [...lines("span"), ...lines("model call")]) expect(line).not.toContain("secret");

  const rows = await ledger("watched");
  const told = lines("model call").map((line) => JSON.parse(line));
  const extra = { event: "model call", agent: "tester", owner: "ann", conversation: "watched" };
  const ms = { firstByte: expect.any(Number), whole: expect.any(Number) };
  expect(told).toEqual(rows.map((row) => ({ ...row, ...extra, ms })));
  for (const { ms } of told) expect(ms.whole).toBeGreaterThanOrEqual(ms.firstByte);

  const spans: Span[] = lines("span").map((line) => JSON.parse(line));
  const whole = spans.find(({ parentSpanId }) => parentSpanId === caller);
  expect(whole).toMatchObject({ name: "invoke_agent tester", traceFlags: 1, status: { code: "unset" } });
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5);
  const parts = spans.filter((span) => span !== whole);
  for (const part of parts) {
    expect(part.parentSpanId).toBe(whole?.spanId);
    expect(part.startTime).toBeGreaterThanOrEqual(whole?.startTime ?? Number.NaN);
    expect(part.endTime).toBeLessThanOrEqual(whole?.endTime ?? Number.NaN);
  }
  const chats = parts.filter(({ name }) => name === "chat claude-sonnet-5");
  expect(chats.map(({ attributes }) => attributes)).toMatchObject(
    rows.map(({ usage, prefix, step }) => ({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude-sonnet-5",
      "gen_ai.usage.input_tokens": usage.input + usage.cacheRead + usage.cacheWrite,
      "gen_ai.usage.output_tokens": usage.output,
      "gen_ai.usage.cache_read.input_tokens": usage.cacheRead,
      "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite,
      "holdfast.prefix": prefix,
      "holdfast.step": step,
    })),
  );
  const tools = parts
    .filter(({ attributes }) => attributes["gen_ai.operation.name"] === "execute_tool")
    .toSorted((a, b) => a.name.localeCompare(b.name));
  expect(tools.map(({ name, attributes, status }) => [name, attributes["gen_ai.tool.call.id"], status.code])).toEqual([
    ["execute_tool clock", "call_1", "unset"],
    ["execute_tool fail", "call_2", "error"],
  ]);
});
