import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import {
  call,
  createParking,
  type Parking,
  type Part,
  parkAt,
  type RecordedRequest,
  say,
} from "../emulators/anthropic/index.ts";
import { expectAllExtend, KEYS, type Stage, startStage } from "./chat.ts";
import { type Hook, startHook } from "./hook.ts";

let hook: Hook;
let stage: Stage;
beforeAll(async () => {
  hook = await startHook();
  stage = await startStage({ HOOK: hook.url });
});
afterAll(async () => {
  await stage.close();
  await hook.close();
});
// What a test that failed has left unsaid is not said in the next one.
beforeEach(() => stage.model.reset());

let conversations = 0;
const newConversation = () => `stop-${++conversations}`;

/** Begins a streamed answer, as a client that can leave. Resolves with its first bytes. */
async function begin(conversation: string, text: string) {
  const sent = request(new URL("/v1/chat/completions", stage.workerd.url).href, {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS.ann}`, "x-conversation-id": conversation },
  });
  sent.end(JSON.stringify({ model: "tester", stream: true, messages: [{ role: "user", content: text }] }));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve);
    sent.on("error", reject);
  });
  const chunks = response.setEncoding("utf8").iterator({ destroyOnReturn: false });
  let frames = "";
  const said = () => [...frames.matchAll(/"content":("[^"]*")/g)].map(([, text = ""]) => JSON.parse(text)).join("");
  return {
    /** Closes the connection, as a client does; workerd notices when it next writes to it. */
    leave: () => sent.destroy(),
    /** Resets the connection, which workerd notices at once. */
    breakOff: () => sent.socket?.resetAndDestroy(),
    /** Reads until the text was said, or to the end. Answers all frames so far. */
    async until(text: string | null): Promise<string> {
      while (text === null || !said().includes(text)) {
        const next = await chunks.next();
        if (next.done && text === null) break;
        if (next.done) throw new Error(`the answer ended without ${text}: ${frames}`);
        frames += next.value;
      }
      return frames;
    },
  };
}

/** Says something, and forgets about it: the process ends before it is answered. */
function sayInVain(conversation: string, text: string): void {
  stage.say(conversation, text).catch(() => undefined);
}

interface StoredEntry {
  readonly kind: string;
  readonly turn: string;
  readonly stop?: string;
  readonly content?: readonly { type: string; text?: string; id?: string }[];
  readonly results?: readonly { call: string; status: string; content: readonly { text: string }[] }[];
}

async function stored(conversation: string): Promise<StoredEntry[]> {
  return (await stage.get(`/api/sessions/${conversation}/entries`)).body.entries;
}

/** The conversation's entries once no turn runs in it any more. */
async function settled(conversation: string): Promise<StoredEntry[]> {
  await vi.waitFor(
    async () => expect((await stage.get(`/api/sessions/${conversation}`)).body.running).toBe(false),
    WITHIN_2_S,
  );
  return stored(conversation);
}

async function stop(conversation: string): Promise<void> {
  const reply = await stage.send("POST", `/api/sessions/${conversation}/stop`);
  expect([reply.status, reply.body]).toEqual([200, { id: conversation, stopping: true }]);
}

const WITHIN_2_S = { timeout: 2_000, interval: 20 };

/** The next message is answered at once, behind all that was sent before; each call has one result. */
async function goesOn(conversation: string, text = "and now?"): Promise<void> {
  stage.model.script(say("Here I am."));
  const reply = await stage.say(conversation, text);
  expect(reply.error).toBeNull();
  expect(reply.text).toBe("Here I am.");
  await expectWhole(conversation);
}

async function expectWhole(conversation: string): Promise<void> {
  expectAllExtend(stage.model.requests);
  const entries = await stored(conversation);
  expect(entries.flatMap(({ results = [] }) => results.map((result) => result.call))).toEqual(
    entries.flatMap(({ content = [] }) => content.flatMap(({ type, id }) => (type === "call" ? [id] : []))),
  );
}

/** Scripts an answer that waits behind its first words. */
function wordsThenWait(...rest: readonly Part[]): Parking<RecordedRequest> {
  const parking = createParking<RecordedRequest>();
  stage.model.script([say("Some words, and then "), parkAt(6, parking), ...rest]);
  return parking;
}

describe("a client that leaves in mid-answer stops the turn", () => {
  test("while the model speaks: what was said stays, and the model's request is aborted", async () => {
    const id = newConversation();
    wordsThenWait();
    const answer = await begin(id, "talk");
    await answer.until("Some");
    answer.leave();
    await vi.waitFor(() => expect(stage.model.requests[0]?.outcome).toBe("client_gone"), WITHIN_2_S);
    const [, said] = await settled(id);
    expect(said).toMatchObject({ kind: "assistant", stop: "stopped" });
    expect("Some words, and then ").toContain(said?.content?.[0]?.text);
    expect(said?.content?.[0]?.text).toMatch(/^Some/);
    await goesOn(id);
  });

  test("behind a whole call: the call is not run, and closed as interrupted", async () => {
    const id = newConversation();
    const probe = newConversation();
    stage.model.script(call("once", {}, "call_a"));
    const leaving = await begin(probe, "how many events are there?");
    (await hook.next()).answer("enough");
    stage.model.script(say("Enough."));
    await leaving.until(null);
    const events = stage.model.requests[0]?.events ?? 0;
    stage.model.reset();

    // Behind the call come two more events; here it is the start of a text and its first two words instead.
    const parking = createParking<RecordedRequest>();
    stage.model.script([call("once", {}, "call_a"), say("After it, a text."), parkAt(events + 1, parking)]);
    const answer = await begin(id, "call it");
    await answer.until("After");
    answer.breakOff();
    await vi.waitFor(() => expect(stage.model.requests[0]?.outcome).toBe("client_gone"), WITHIN_2_S);
    const entries = await settled(id);
    expect(entries[1]).toMatchObject({ stop: "stopped", content: [{ type: "call", id: "call_a" }, { text: "After" }] });
    expect(entries[2]?.results).toMatchObject([{ call: "call_a", status: "interrupted" }]);
    await goesOn(id);
    expect(hook.running).toBe(0);
  });

  test("while a tool runs: the tool is aborted, and what has no result is closed as interrupted", async () => {
    const id = newConversation();
    stage.model.script([say("Two at once."), call("clock", { text: "noon" }, "call_a"), call("once", {}, "call_b")]);
    const answer = await begin(id, "call them");
    const running = await hook.next();
    answer.breakOff();
    expect(await running.over).toBe("left");
    const entries = await settled(id);
    expect(entries[2]?.results).toMatchObject([
      { call: "call_a", status: "ok" },
      { call: "call_b", status: "interrupted" },
    ]);
    await goesOn(id);
  });

  test("while the model has not begun to answer: nothing is left but the message", async () => {
    const id = newConversation();
    const parking = stage.model.park(({ n }) => n === 1);
    stage.model.script(say("Never said."));
    const client = connect(Number(stage.workerd.url.port), "127.0.0.1");
    const body = JSON.stringify({ messages: [{ role: "user", content: "talk" }] });
    const head = ["POST /v1/chat/completions HTTP/1.1", "host: localhost", `authorization: Bearer ${KEYS.ann}`];
    client.write([...head, `x-conversation-id: ${id}`, `content-length: ${body.length}`, "", body].join("\r\n"));
    await parking.parked;
    // As nothing is written to this client, only a reset tells workerd that it has left.
    client.resetAndDestroy();
    await vi.waitFor(() => expect(stage.model.requests[0]?.outcome).toBe("client_gone"), WITHIN_2_S);
    expect((await settled(id)).map(({ kind }) => kind)).toEqual(["user"]);
    await goesOn(id);
  });
});

describe("POST stop, from another connection", () => {
  test("ends an answer in mid-text: its client gets what there is, and can type again at once", async () => {
    const id = newConversation();
    wordsThenWait();
    const answer = await begin(id, "talk");
    await answer.until("Some");
    await stop(id);
    // No waiting for the stop to take effect: the next message waits for it by itself.
    await goesOn(id);
    const frames = await answer.until(null);
    expect(frames).toContain('"finish_reason":"stop"');
    expect(frames).toContain("data: [DONE]");
    expect(stage.model.requests[0]?.outcome).toBe("client_gone");
    expect((await stored(id))[1]).toMatchObject({ kind: "assistant", stop: "stopped" });
  });

  test("ends a running tool: its call is closed as interrupted, and the client can type again at once", async () => {
    const id = newConversation();
    stage.model.script([call("once", {}, "call_a"), call("clock", { text: "noon" }, "call_b")]);
    const answer = await begin(id, "call it");
    const running = await hook.next();
    await stop(id);
    await goesOn(id);
    expect(await running.over).toBe("left");
    expect(await answer.until(null)).toContain("data: [DONE]");
    const [, , results] = await stored(id);
    expect(results?.results).toMatchObject([
      { call: "call_a", status: "interrupted" },
      { call: "call_b", status: "ok" },
    ]);
  });

  test("of a conversation in which nothing runs changes nothing", async () => {
    const id = newConversation();
    stage.model.script(say("Hello."));
    await stage.say(id, "hi");
    await stop(id);
    await goesOn(id);
  });
});

describe("a second message while a turn runs", () => {
  test("waits for the first, and then runs", async () => {
    const id = newConversation();
    const parking = wordsThenWait(say("the rest"));
    const answer = await begin(id, "first");
    await answer.until("Some");
    stage.model.script(say("Second."));
    const second = stage.say(id, "second");
    // Reading goes through the same object, so the second message has asked for it by now.
    expect((await stage.get(`/api/sessions/${id}`)).body.running).toBe(true);
    expect(stage.model.requests).toHaveLength(1);
    parking.release();
    expect((await second).text).toBe("Second.");
    await answer.until("and then the rest");
    await goesOn(id);
    expect((await stored(id)).map(({ kind }) => kind)).toEqual(Array(3).fill(["user", "assistant"]).flat());
  });

  test("stops the first where the agent is to be interrupted, and then runs", async () => {
    onTestFinished(() => stage.workerd.fresh({ BUSY: "wait" }));
    await stage.workerd.fresh({ BUSY: "interrupt" });
    const id = newConversation();
    wordsThenWait();
    const answer = await begin(id, "first");
    await answer.until("Some");
    stage.model.script(say("Second."));
    expect((await stage.say(id, "second")).text).toBe("Second.");
    expect(await answer.until(null)).toContain('"finish_reason":"stop"');
    expect(stage.model.requests[0]?.outcome).toBe("client_gone");
    expect((await stored(id))[1]).toMatchObject({ stop: "stopped" });
    await goesOn(id);
  });

  test("five at once, from two clients, run one after the other", async () => {
    const id = newConversation();
    stage.model.answer(({ lastUserText }) => say(`Heard ${lastUserText.split("\n").at(-1)}.`));
    const texts = ["one", "two", "three", "four", "five"];
    const replies = await Promise.all(
      texts.map((text, n) => stage.say(id, text, n % 2 === 0 ? {} : { headers: { connection: "close" } })),
    );
    expect(replies.map(({ text }) => text)).toEqual(texts.map((text) => `Heard ${text}.`));
    expect(stage.model.requests).toHaveLength(5);
    await expectWhole(id);
    expect((await stored(id)).map(({ kind }) => kind)).toEqual(Array(5).fill(["user", "assistant"]).flat());
  });
});

describe("a second message while a turn runs, where the agent rejects it", () => {
  beforeAll(() => stage.workerd.fresh({ BUSY: "reject" }));
  afterAll(() => stage.workerd.fresh({ BUSY: "wait" }));

  test("is refused, in words that no client takes for a reason to repeat it", async () => {
    const id = newConversation();
    const parking = wordsThenWait(say("the rest"));
    const answer = await begin(id, "first");
    await answer.until("Some");
    const second = await stage.say(id, "second");
    expect(second.status).toBe(409);
    expect(second.error).toMatchObject({ type: "conflict_error", message: expect.stringContaining("Another turn") });
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(second.headers.get("x-should-retry")).toBe("false");
    parking.release();
    await answer.until("and then the rest");
    await answer.until(null);
    await goesOn(id);
    expect(JSON.stringify(await stored(id))).not.toContain("second");
  });

  test("waits if the first was stopped: one may type again at once", async () => {
    const id = newConversation();
    wordsThenWait();
    const answer = await begin(id, "talk");
    await answer.until("Some");
    await stop(id);
    await goesOn(id);
  });
});

describe("an isolate that dies, where no other goes on with its turn by itself", () => {
  let other: Stage;
  beforeAll(async () => {
    other = stage;
    stage = await startStage({ HOOK: hook.url, HOLDFAST_LEASE_SECONDS: "0.3" }, { entry: "test/e2e/no-runner.ts" });
  });
  afterAll(async () => {
    await stage.close();
    stage = other;
  });

  /** Kills the isolate while its model call is parked. */
  async function dieInModelCall(id: string): Promise<void> {
    const parking = stage.model.park(({ n }) => n === 1);
    stage.model.script(say("Never heard."));
    sayInVain(id, "do it");
    await parking.parked;
    await stage.workerd.fresh();
  }

  /** Kills the isolate while both tools run. */
  async function dieInTools(id: string): Promise<void> {
    stage.model.script([
      call("wait", {}, "call_wait"),
      call("once", {}, "call_once"),
      call("clock", { text: "noon" }, "call_clock"),
    ]);
    sayInVain(id, "do it");
    const running = [await hook.next(), await hook.next()];
    expect(running.map((one) => one.id).sort()).toEqual(["call_once", "call_wait"]);
    await stage.workerd.fresh();
    for (const one of running) expect(await one.over).toBe("left");
  }

  test("in a model call: the same message goes on with that turn, and sends the same bytes", async () => {
    const id = newConversation();
    await dieInModelCall(id);
    stage.model.script(say("Done."));
    expect((await stage.say(id, "do it")).text).toBe("Done.");
    const [lost, again] = stage.model.requests;
    expect(again?.bodyText).toBe(lost?.bodyText);
    expect((await stored(id)).map(({ kind }) => kind)).toEqual(["user", "assistant"]);
    await goesOn(id);
  });

  test("in a model call: another message starts a turn of its own behind it", async () => {
    const id = newConversation();
    await dieInModelCall(id);
    stage.model.script(say("Done."));
    expect((await stage.say(id, "do something else")).text).toBe("Done.");
    const [lost, next] = stage.model.requests;
    expect(whyNotExtends(lost?.bodyText ?? "", next?.bodyText ?? "")).toBeNull();
    const entries = await stored(id);
    expect(entries.map(({ kind }) => kind)).toEqual(["user", "user", "assistant"]);
    expect(new Set(entries.map(({ turn }) => turn)).size).toBe(2);
    await goesOn(id);
  });

  test("in tools: the same message runs what may run again under the same call id, and goes on", async () => {
    const id = newConversation();
    await dieInTools(id);
    stage.model.script(say("Done."));
    const replied = stage.say(id, "do it");
    const again = await hook.next();
    expect([again.tool, again.id]).toEqual(["wait", "call_wait"]);
    again.answer("waited");
    expect((await replied).text).toBe("Done.");
    const entries = await stored(id);
    expect(entries.map(({ kind }) => kind)).toEqual(["user", "assistant", "results", "assistant"]);
    expect(new Set(entries.map(({ turn }) => turn)).size).toBe(1);
    expect(entries[2]?.results).toMatchObject([
      { call: "call_wait", status: "ok", content: [{ text: "waited" }] },
      { call: "call_once", status: "interrupted" },
      { call: "call_clock", status: "interrupted" },
    ]);
    await goesOn(id);
    expect(hook.running).toBe(0);
  });

  test("in tools: another message closes every call as interrupted, and runs none", async () => {
    const id = newConversation();
    await dieInTools(id);
    stage.model.script(say("Never mind."));
    expect((await stage.say(id, "forget it")).text).toBe("Never mind.");
    const entries = await stored(id);
    expect(entries.map(({ kind }) => kind)).toEqual(["user", "assistant", "results", "user", "assistant"]);
    expect(entries[2]?.results?.map(({ status }) => status)).toEqual(["interrupted", "interrupted", "interrupted"]);
    await goesOn(id);
    expect(hook.running).toBe(0);
  });
});
