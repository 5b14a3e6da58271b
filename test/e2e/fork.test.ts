import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import { type Answer, call, type RecordedRequest, say, think } from "../emulators/anthropic/index.ts";
import {
  declared,
  deferrals,
  expectAllExtend,
  expectValid,
  loadedAt,
  type Stage,
  startStage,
  verdicts,
} from "./chat.ts";
import { type Hook, startHook } from "./hook.ts";

// A model that binds thinking to its prefix: any byte that moves below a signature is refused.
let hook: Hook;
let stage: Stage;
beforeAll(async () => {
  hook = await startHook();
  const settings = { SETTINGS: '{"thinking":true}', MODEL: "anthropic/claude-sonnet-5-5" };
  stage = await startStage({ ...settings, HOOK: hook.url });
});
afterAll(async () => {
  await stage.close();
  await hook.close();
});

let conversations = 0;
const newConversation = () => `fork-${++conversations}`;

interface Said {
  readonly text: string;
  /** A core tool that is there from this turn on. */
  readonly late?: string;
  readonly answers: readonly Answer[];
}

/** A greeting, and a question for which the model loads a tool by a search. */
const GREETING: Said = { text: "hello", answers: [[think("greet"), say("Hello.")]] };
const WEATHER: Said = {
  text: "weather?",
  answers: [
    [think("search"), call("tool_search", { query: "weather" })],
    [think("use"), call("weather", { text: "rain" })],
    [think("done"), say("Rain.")],
  ],
};
const plain = (text: string): Said => ({ text, answers: [[think("so"), say(`You said ${text}.`)]] });

/** What `LATE` is now. */
let there = "";
async function deploy(late: string): Promise<void> {
  if (late !== there) await stage.workerd.fresh({ LATE: late });
  there = late;
}

/** Holds a conversation. Answers its requests, those of each turn. */
async function converse(id: string, ...turns: readonly Said[]): Promise<RecordedRequest[][]> {
  await deploy("");
  const requests: RecordedRequest[][] = [];
  for (const { text, late, answers } of turns) {
    await deploy(late ?? there);
    stage.model.script(...answers);
    expect((await stage.say(id, text)).error).toBeNull();
    requests.push(stage.takeRequests());
  }
  expectAllExtend(requests.flat());
  return requests;
}

/** Forks, or clones without `at`; answers the new session's id. */
async function copy(id: string, at?: number): Promise<string> {
  const how = at === undefined ? "clone" : "fork";
  const reply = await stage.send("POST", `/api/sessions/${id}/${how}`, "ann", JSON.stringify({ at }));
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  expect(reply.body).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  return reply.body.id;
}

/** Says one thing, which the model answers in words. Answers the one request. */
async function oneMore(id: string, text = "go on"): Promise<RecordedRequest> {
  stage.model.script([think("on"), say("On it goes.")]);
  expect((await stage.say(id, text)).error).toBeNull();
  const [request, ...more] = stage.takeRequests();
  if (request === undefined || more.length > 0) throw new Error("one request was expected");
  expectValid(request);
  return request;
}

const entries = async (id: string): Promise<{ seq: number; kind: string }[]> =>
  (await stage.get(`/api/sessions/${id}/entries?limit=500`)).body.entries;
const kinds = async (id: string) => (await entries(id)).map(({ kind }) => kind);
const read = ({ usage }: RecordedRequest) => usage?.cache_read_input_tokens ?? 0;
/** All that was in the cache once a request was answered. */
const cached = (one: RecordedRequest | undefined) =>
  (one?.usage?.cache_read_input_tokens ?? 0) + (one?.usage?.cache_creation_input_tokens ?? 0);

describe("a clone", () => {
  test("goes on where its original stands and reads the original's cache; both then go their ways", async () => {
    const id = newConversation();
    const requests = (await converse(id, GREETING, WEATHER)).flat();
    const child = await copy(id);
    expect(await entries(child)).toEqual(await entries(id));
    await stage.workerd.fresh();
    const first = await oneMore(child);
    expect(whyNotExtends(requests.at(-1)?.bodyText ?? "", first.bodyText)).toBeNull();
    expect(read(first) / cached(requests.at(-1))).toBeGreaterThanOrEqual(0.98);
    expect(await verdicts(stage, child)).toEqual(["extends"]);
    expect((await deferrals(stage, child)).value).toBe((await deferrals(stage, id)).value);
    // What it costs is told where it was asked.
    expect((await stage.get(`/api/sessions/${child}/ledger`)).body.calls).toHaveLength(1);

    const there = await oneMore(id, "and here?");
    expect(whyNotExtends(requests.at(-1)?.bodyText ?? "", there.bodyText)).toBeNull();
    expect(there.bodyText).not.toContain("go on");
    expect(await kinds(child)).toEqual(await kinds(id));
  });

  test("is rebuilt from D1 with what it was made of", async () => {
    const id = newConversation();
    const requests = (await converse(id, WEATHER, plain("thanks"))).flat();
    const child = await copy(id);
    await stage.object(child, "flushed");
    await stage.workerd.wipeObjects();
    const first = await oneMore(child);
    expect(whyNotExtends(requests.at(-1)?.bodyText ?? "", first.bodyText)).toBeNull();
    expect((await stage.get(`/api/sessions/${child}`)).body.forkedFrom).toEqual({ id, at: null });
  });

  test("of a conversation whose turn is running has its last finished step", async () => {
    const id = newConversation();
    await converse(id, GREETING);
    stage.model.script(
      [think("search"), call("tool_search", { query: "weather" })],
      [think("wait"), call("wait", {})],
      [think("end"), say("Waited.")],
    );
    const running = stage.say(id, "wait for it");
    const waiting = await hook.next();
    const [, waited] = stage.takeRequests();
    const child = await copy(id);
    const forked = await copy(id, 1);
    waiting.answer("waited");
    expect((await running).text).toBe("Waited.");
    stage.takeRequests();
    // The call that waits is not in it, the step before it is.
    expect(await kinds(child)).toEqual(["user", "assistant", "user", "assistant", "results"]);
    expect(await kinds(forked)).toEqual(["user", "assistant"]);
    const first = await oneMore(child);
    expect(whyNotExtends(waited?.bodyText ?? "", first.bodyText)).toBeNull();
    expect(read(first)).toBe(cached(waited));
    expect(declared(first).deferred).toEqual(["weather"]);
  });

  test("of a conversation whose turn has finished no step has none of that turn", async () => {
    const id = newConversation();
    const [[greeted] = []] = await converse(id, GREETING);
    stage.model.script([think("wait"), call("wait", {})], [think("end"), say("Waited.")]);
    const running = stage.say(id, "wait for it");
    const waiting = await hook.next();
    const child = await copy(id);
    waiting.answer("waited");
    await running;
    stage.takeRequests();
    expect(await kinds(child)).toEqual(["user", "assistant"]);
    expect(whyNotExtends(greeted?.bodyText ?? "", (await oneMore(child)).bodyText)).toBeNull();
  });
});

describe("a fork whose load points survive", () => {
  test("extends what was asked before its message, reads all of that from the cache, and lacks what came after", async () => {
    const id = newConversation();
    const requests = await converse(id, GREETING, WEATHER, plain("one"), plain("two"), plain("three"));
    const child = await copy(id, 3);
    expect(await kinds(child)).toEqual((await kinds(id)).slice(0, -4));
    const first = await oneMore(child);
    const before = requests[2]?.at(-1);
    expect(whyNotExtends(before?.bodyText ?? "", first.bodyText)).toBeNull();
    expect(read(first)).toBe(cached(before));
    expect(first.bodyText).not.toContain("You said two");
    expect(loadedAt(first)).toEqual(loadedAt(before));
    expect((await deferrals(stage, child)).value).toBe((await deferrals(stage, id)).value);
    const here = "SELECT text FROM entries UNION ALL SELECT text FROM items UNION ALL SELECT text FROM calls";
    expect(JSON.stringify(await stage.object(child, "query", here))).not.toMatch(/"two"|three/);
  });

  test("takes a host search that stands right before its message, whenever it was made", async () => {
    const id = newConversation();
    const requests = await converse(id, WEATHER, { ...plain("one"), late: "late_one" }, plain("two"));
    const search = (await entries(id)).find(({ kind }) => kind === "host_search");
    const asked = (await entries(id)).filter(({ kind }) => kind === "user")[1];
    expect(search?.seq).toBeGreaterThan(asked?.seq ?? Number.POSITIVE_INFINITY);
    const child = await copy(id, 1);
    const first = await oneMore(child);
    expect(declared(first).deferred).toEqual(["weather", "late_one"]);
    expect(loadedAt(first)).toEqual(loadedAt(requests[1]?.[0]));
    expect(whyNotExtends(requests[0]?.at(-1)?.bodyText ?? "", first.bodyText)).toBeNull();
    expect((await stage.get(`/api/sessions/${child}/ledger`)).body.calls[0].prefix).toBe("extends");
  });

  test("before the first message keeps the baseline, and begins", async () => {
    const id = newConversation();
    const [[greeted] = []] = await converse(id, GREETING, plain("one"));
    const child = await copy(id, 0);
    expect(await entries(child)).toEqual([]);
    await stage.workerd.fresh({ ORDER: "reversed", DESCRIPTIONS: " Anew." });
    const first = await oneMore(child);
    await stage.workerd.fresh({ ORDER: "", DESCRIPTIONS: "" });
    expect(declared(first)).toEqual(declared(greeted));
    expect(first.bodyText).not.toContain("Anew");
    expect(await verdicts(stage, child)).toEqual(["first"]);
  });

  test("of a fork, of a clone, is one like another", async () => {
    const id = newConversation();
    const requests = await converse(id, WEATHER, plain("one"), plain("two"));
    const child = await copy(await copy(await copy(id), 2), 1);
    const first = await oneMore(child);
    expect(whyNotExtends(requests[0]?.at(-1)?.bodyText ?? "", first.bodyText)).toBeNull();
    expect(read(first)).toBe(cached(requests[0]?.at(-1)));
    expect(await verdicts(stage, child)).toEqual(["extends"]);
    expect((await stage.get(`/api/sessions/${child}`)).body.title).toBe("weather? (fork 1) (fork 1) (fork 1)");
  });
});

describe("a fork that loses a load point", () => {
  test("starts its deferrals anew, says so, and is valid from its first request on", async () => {
    const id = newConversation();
    await converse(id, GREETING, plain("one"), WEATHER);
    const child = await copy(id, 2);
    expect((await deferrals(stage, child)).value).toBeNull();
    const first = await oneMore(child);
    expect(declared(first).deferred).toEqual([]);
    expect((await oneMore(child, "and on")).error).toBeNull();
    const { calls } = (await stage.get(`/api/sessions/${child}/ledger`)).body;
    expect(calls.map(({ prefix }: { prefix: string }) => prefix)).toEqual(["break; cause=fork_reset", "extends"]);
  });
});

test("a fork from before a compaction, which no request followed, says fork_reset; one from behind it says compaction", async () => {
  const id = newConversation();
  await converse(id, plain(`one ${"word ".repeat(2_000)}`), plain("two"), plain("three"));
  stage.model.script(say("Summary."));
  expect((await stage.send("POST", `/api/sessions/${id}/compact`)).body.compacted).toBe(true);
  stage.takeRequests();
  const [before, behind] = [await copy(id, 1), await copy(id)];
  expect((await oneMore(before)).bodyText).toContain("one word");
  expect(await verdicts(stage, before)).toEqual(["break; cause=fork_reset"]);
  expect((await oneMore(behind)).bodyText).toContain("Summary.");
  expect(await verdicts(stage, behind)).toEqual(["break; cause=compaction"]);
});

describe("forks", () => {
  test("are titled in turn, and listed with where they come from", async () => {
    const id = newConversation();
    await converse(id, GREETING, plain("one"));
    const made = await Promise.all([copy(id, 1), copy(id), copy(id, 0)]);
    await Promise.all(made.map((one) => stage.object(one, "flushed")));
    const { sessions } = (await stage.get("/api/sessions?limit=500")).body;
    const listed = sessions.filter(({ id }: { id: string }) => made.includes(id));
    expect(listed.map(({ title }: { title: string }) => title).sort()).toEqual([
      "hello (fork 1)",
      "hello (fork 2)",
      "hello (fork 3)",
    ]);
    const from = new Map(listed.map((one: { id: string; forkedFrom: object }) => [one.id, one.forkedFrom]));
    expect(made.map((one) => from.get(one))).toEqual([
      { id, at: 1 },
      { id, at: null },
      { id, at: 0 },
    ]);
    expect((await stage.get(`/api/sessions/${id}`)).body.forkedFrom).toBeNull();
  });

  test("outside of the conversation are refused, and nothing is stored", async () => {
    const id = newConversation();
    await converse(id, GREETING, plain("one"));
    const refused = async (body: string, path = id) => {
      const { status, error } = await stage.send("POST", `/api/sessions/${path}/fork`, "ann", body);
      return [status, error?.message];
    };
    expect(await refused('{"at":2}')).toEqual([400, "at: the session has user messages 0 to 1"]);
    const which = "at: give the number of the user message to fork before, counted from 0";
    for (const body of ["{}", '{"at":-1}', '{"at":0.5}', '{"at":"1"}', "[]", "null"]) {
      expect(await refused(body)).toEqual([400, which]);
    }
    expect((await refused("{"))[0]).toBe(400);
    const empty = await copy(id, 0);
    expect(await refused('{"at":0}', empty)).toEqual([400, "at: the session has no user message"]);
    expect((await refused('{"at":0}', "nowhere"))[0]).toBe(404);
    expect((await stage.get(`/api/sessions/${await copy(id)}`)).body.title).toBe("hello (fork 2)");
  });

  test("count the messages that are there: one that was edited away is none", async () => {
    const id = newConversation();
    await converse(id, GREETING, plain("one"));
    stage.model.script([think("edited"), say("Two it is.")]);
    const history = [
      { role: "user", content: "hello" },
      { role: "assistant", content: "Hello." },
    ];
    expect((await stage.say(id, "two", { history })).text).toBe("Two it is.");
    stage.takeRequests();
    const child = await copy(id, 1);
    expect(await kinds(child)).toEqual(["user", "assistant"]);
    const whole = await copy(id);
    expect(await entries(whole)).toEqual(await entries(id));
    const first = await oneMore(whole);
    expect(first.bodyText).toContain("Two it is.");
    expect(first.bodyText).not.toContain("You said one.");
    expect(await verdicts(stage, whole)).toEqual(["extends"]);
  });
});
