import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, say, think } from "../emulators/anthropic/index.ts";
import { declared, expectValid, KEYS, loadedAt, type Stage, startStage, verdicts, type Who } from "./chat.ts";

const SECRET = "a-secret-to-sign-exports-with";
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

// Ann is an operator, bob is not.
let stage: Stage;
beforeAll(async () => {
  stage = await startStage({
    ...{ SETTINGS: '{"thinking":true}', MODEL: "anthropic/claude-sonnet-5-5", HOLDFAST_SECRET: SECRET },
    HOLDFAST_API_KEYS: `ann:${KEYS.ann}:operator,bob:${KEYS.bob}`,
  });
  for (const who of ["ann", "bob"] as const) await converse(who);
});
afterAll(() => stage.close());

const ID = "taken";

/** A conversation with a picture of the user's, one of a tool's, a tool that was loaded, and an answer taken back. */
async function converse(who: Who): Promise<void> {
  stage.model.script(
    [think("search"), say("Looking."), call("tool_search", { query: "weather" }), call("picture", {})],
    [think("use"), call("weather", { text: "rain" })],
    [think("done"), say("Rain.")],
    [think("once"), say("Taken back.")],
    [think("twice"), say("Said instead.")],
  );
  const picture = [
    { type: "text", text: "weather?" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${DOT}` } },
  ];
  const asked = { role: "user", content: picture };
  const body = { messages: [asked] };
  expect((await stage.say(ID, "", { who, body })).error).toBeNull();
  const history = [asked, { role: "assistant", content: "Looking.\n\nRain." }];
  for (const _ of ["once", "twice"]) expect((await stage.say(ID, "and now?", { who, history })).error).toBeNull();
}

const exported = async (who: Who) => (await stage.get(`/api/sessions/${ID}/export`, who)).body;

async function bring(who: Who, body: object, agent = ""): Promise<{ id: string; signed: boolean }> {
  const reply = await stage.send("POST", `${agent}/api/sessions/import`, who, JSON.stringify(body));
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
}

async function refused(who: Who, body: unknown, agent = ""): Promise<[number, string]> {
  const reply = await stage.send("POST", `${agent}/api/sessions/import`, who, JSON.stringify(body));
  return [reply.status, reply.error?.message ?? ""];
}

/** Says one thing and answers the one request it took. */
async function oneMore(who: Who, id: string) {
  stage.takeRequests();
  stage.model.script([think("on"), say("On it goes.")]);
  expect((await stage.say(id, "go on", { who })).error).toBeNull();
  const [request] = stage.takeRequests();
  if (request === undefined) throw new Error("a request was expected");
  expectValid(request);
  return request;
}

describe("an export", () => {
  test("has what its owner may see, with the content of images, and nothing else", async () => {
    const whole = await exported("bob");
    expect(Object.keys(whole)).toEqual(["format", "agent", "title", "mode", "entries", "blobs"]);
    expect(whole).toMatchObject({ format: "holdfast/1", agent: "tester", title: "weather?", mode: "agent" });
    expect(whole.entries).toEqual((await stage.get(`/api/sessions/${ID}/entries`, "bob")).body.entries);
    expect(whole.blobs).toEqual([{ hash: expect.any(String), media: "image/png", base64: DOT }]);
    expect(JSON.stringify(whole)).not.toMatch(/signature|"initial"|loadPoint|You help/);
  });

  test("has the deferrals for an operator, signed", async () => {
    const { record, signature, ...rest } = await exported("ann");
    expect(Object.keys(rest)).toEqual(Object.keys(await exported("bob")));
    const { deferrals } = JSON.parse(record);
    expect(JSON.parse(deferrals)).toMatchObject({ loadPoints: { weather: expect.any(String) } });
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("an import that this server signed", () => {
  test("goes on as the session it was taken of: it extends its last request, for whoever brings it in", async () => {
    const taken = await exported("ann");
    const here = await oneMore("ann", ID);
    for (const who of ["ann", "bob"] as const) {
      const { id, signed } = await bring(who, taken);
      expect(signed).toBe(true);
      const first = await oneMore(who, id);
      expect(first.bodyText).toBe(here.bodyText);
      const { entries } = (await stage.get(`/api/sessions/${id}/entries`, who)).body;
      expect(entries.slice(0, taken.entries.length)).toEqual(taken.entries);
      expect((await stage.get(`/api/sessions/${id}`, who)).body).toMatchObject({ title: "weather?", forkedFrom: null });
      if (who === "ann") expect(await verdicts(stage, id)).toEqual(["extends"]);
    }
  });

  test("is refused if a character of its record or signature is another, or the agent is", async () => {
    const taken = await exported("ann");
    const unsigned = "signature: this server did not sign that record; without a signature it comes in untrusted";
    const forged = taken.record.replace("weather", "whether");
    expect(forged).not.toBe(taken.record);
    expect(await refused("bob", { ...taken, record: forged })).toEqual([400, unsigned]);
    const zero = taken.signature.startsWith("0") ? "1" : "0";
    for (const signature of [zero + taken.signature.slice(1), "", "é".repeat(64)]) {
      expect(await refused("bob", { ...taken, signature })).toEqual([400, unsigned]);
    }
    const { record: _, ...bare } = taken;
    expect(await refused("bob", bare)).toEqual([400, unsigned]);
    const other = "record: it is a session with tester, and can't go on with bare";
    expect(await refused("ann", taken, "/agents/bare")).toEqual([400, other]);
  });
});

describe("any other import", () => {
  test("is trusted in nothing: what was said comes in as a client's, and the session begins", async () => {
    const { signature: _, ...taken } = await exported("ann");
    const { id, signed } = await bring("bob", taken);
    expect(signed).toBe(false);
    const { entries } = (await stage.get(`/api/sessions/${id}/entries`, "bob")).body;
    const said = entries.map(({ kind, origin, content }: { kind: string; origin: string; content: object[] }) => [
      kind,
      origin,
      content.map((part) => ("text" in part ? part.text : "type" in part ? part.type : "")),
    ]);
    expect(said.slice(0, 4)).toEqual([
      ["user", "client", ["weather?", "image"]],
      ["assistant", "client", ["Looking."]],
      ["assistant", "client", ["Rain."]],
      ["user", "client", ["and now?"]],
    ]);
    expect(JSON.stringify(said)).not.toContain("Taken back.");
    const first = await oneMore("bob", id);
    expect(declared(first)).toEqual({ inline: expect.not.arrayContaining(["weather"]), deferred: [] });
    expect(loadedAt(first)).toEqual({});
    expect(first.bodyText).toContain("You help bob.");
    expect(first.bodyText).toContain(DOT);
    expect(first.bodyText).not.toMatch(/tool_use|tool_result/);
    const { calls } = (await stage.get(`/api/sessions/${id}/ledger`, "bob")).body;
    expect(calls.map(({ prefix }: { prefix: string }) => prefix)).toEqual(["first"]);
  });

  test("may go to another agent", async () => {
    const { id } = await bring("bob", await exported("bob"), "/agents/bare");
    expect((await stage.get(`/agents/bare/api/sessions/${id}`, "bob")).body).toMatchObject({ agent: "bare" });
  });

  test("that is none says where, and nothing is stored", async () => {
    const taken = await exported("bob");
    const user = taken.entries[0];
    const [blob] = taken.blobs;
    const cases: [unknown, string][] = [
      [[], ""],
      [{ ...taken, format: "other/1" }, "format"],
      [{ ...taken, entries: {} }, "entries"],
      [{ ...taken, entries: [] }, "entries: there is no user message"],
      [{ ...taken, entries: [{ ...user, kind: "host_search" }] }, "entries: there is no user message"],
      [{ ...taken, entries: [user, user] }, "entries: their numbers must rise"],
      [{ ...taken, entries: [{ ...user, content: "text" }] }, "entries[0]"],
      [{ ...taken, entries: [{ ...user, seq: 0 }] }, "entries[0]"],
      [{ ...taken, blobs: [] }, "entries[0].content[1]: its content is not among the blobs"],
      [{ ...taken, blobs: [{ ...blob, media: "text/html" }] }, "blobs[0]: image/png"],
      [{ ...taken, blobs: [{ ...blob, media: "image/gif" }] }, "blobs[0]: it does not hold image/gif in base64"],
      [{ ...taken, blobs: [{ ...blob, base64: "!" }] }, "blobs[0]: it does not hold image/png in base64"],
      [{ ...taken, blobs: [{ ...blob, hash: "00" }] }, "blobs[0]: its hash is of something else"],
    ];
    for (const [body, problem] of cases) {
      const [status, message] = await refused("bob", body);
      expect([status, message.startsWith(problem)], message).toEqual([400, true]);
    }
    const large = await refused("bob", { ...taken, title: "x".repeat(21 * 1024 * 1024) });
    expect(large[0]).toBe(413);
  });
});

test("a secret that can be guessed signs nothing, and one that is missing neither", async () => {
  await stage.workerd.fresh({ HOLDFAST_SECRET: "short" });
  expect((await stage.get(`/api/sessions/${ID}/export`)).status).toBe(500);
  expect((await stage.get(`/api/sessions/${ID}/export`, "bob")).status).toBe(200);
  await stage.workerd.fresh({ HOLDFAST_SECRET: "" });
  const unsigned = await exported("ann");
  expect(Object.keys(unsigned)).not.toContain("signature");
  expect((await bring("ann", unsigned)).signed).toBe(false);
  expect((await refused("ann", { ...unsigned, signature: "0".repeat(64) }))[0]).toBe(400);
  await stage.workerd.fresh({ HOLDFAST_SECRET: SECRET });
});
