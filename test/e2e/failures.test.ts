import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import {
  type Answer,
  call,
  callUnseen,
  cut,
  destroyAt,
  errorAt,
  type HttpFailure,
  httpFailure,
  overloaded,
  pause,
  type RecordedRequest,
  rateLimited,
  refuse,
  say,
  search,
} from "../emulators/anthropic/index.ts";
import { expectValid, type Reply, type Stage, startStage } from "./chat.ts";
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
const newConversation = () => `failure-${++conversations}`;

/** Says something after what went wrong: it is accepted and answered, and nothing that was sent before has changed. */
async function goesOn(conversation: string): Promise<readonly RecordedRequest[]> {
  stage.model.script(say("Still here."));
  const reply = await stage.say(conversation, "are you still there?");
  expect(reply.text).toBe("Still here.");
  const { requests } = stage.model;
  for (const request of requests) if (request.error?.rule !== INJECTED) expectValid(request);
  for (const [index, request] of requests.entries()) {
    const before = requests[index - 1];
    if (before !== undefined) expect(whyNotExtends(before.bodyText, request.bodyText)).toBeNull();
  }
  const entries = await stored(conversation);
  expect(entries.flatMap(({ results = [] }) => results.map(({ call }) => call))).toEqual(
    entries.flatMap(({ content = [] }) => content.flatMap(({ type, id }) => (type === "call" ? [id] : []))),
  );
  return requests;
}

/** Keeps the SDK from waiting and trying again. */
const NO_RETRY = { "x-should-retry": "false" };

/** The emulator's rule for failures that a test asked for. */
const INJECTED = "E-A34";

interface StoredEntry {
  readonly kind: string;
  readonly stop?: string;
  readonly content?: readonly { type: string; text?: string; id?: string; input?: string }[];
  readonly results?: readonly { call: string; status: string; content: readonly { text: string }[] }[];
}

async function stored(conversation: string): Promise<StoredEntry[]> {
  return (await stage.get(`/api/sessions/${conversation}/entries`)).body.entries;
}

/** The results that a request's last message brings. */
function resultsOf(request: RecordedRequest | undefined): { id: string; text: string; failed: boolean }[] {
  const body = JSON.parse(request?.bodyText ?? "{}");
  return body.messages.at(-1).content.flatMap((block: ToolResultBlock) =>
    block.type === "tool_result"
      ? [
          {
            id: block.tool_use_id,
            text: block.content.map(({ text }) => text).join("\n"),
            failed: block.is_error === true,
          },
        ]
      : [],
  );
}

interface ToolResultBlock {
  readonly type: string;
  readonly tool_use_id: string;
  readonly is_error?: boolean;
  readonly content: readonly { text: string }[];
}

const finishOf = (reply: Reply): string => reply.body.choices[0].finish_reason;

describe("the model ends its answer early", () => {
  test("a refusal with partial text is an answer, filtered, and keeps what was said", async () => {
    const id = newConversation();
    stage.model.script([say("I could tell you"), refuse("cyber", "This is not allowed.")]);
    const reply = await stage.say(id, "tell me");
    expect(reply.text).toBe("I could tell you");
    expect(finishOf(reply)).toBe("content_filter");
    expect(reply.body.choices[0].message.reasoning_content).toContain("This is not allowed.");
    expect((await goesOn(id)).at(-1)?.bodyText).toContain("I could tell you");
  });

  test("a refusal without any text leaves no empty message behind", async () => {
    const id = newConversation();
    stage.model.script(refuse("bio", "This is not allowed."));
    const reply = await stage.say(id, "tell me");
    expect([reply.status, reply.text, finishOf(reply)]).toEqual([200, "", "content_filter"]);
    await goesOn(id);
    expect((await stored(id)).map(({ kind }) => kind)).toEqual(["user", "user", "assistant"]);
  });

  test("a refusal in a later step keeps the steps before it", async () => {
    const id = newConversation();
    stage.model.script([say("Looking."), call("clock")], refuse());
    const reply = await stage.say(id, "look");
    expect([reply.text, finishOf(reply)]).toEqual(["Looking.", "content_filter"]);
    await goesOn(id);
  });

  test("an answer cut at the output limit in mid-text is kept, and says so", async () => {
    const id = newConversation();
    stage.model.script(cut("Once upon a ti"));
    const reply = await stage.say(id, "a story");
    expect([reply.text, finishOf(reply)]).toEqual(["Once upon a ti", "length"]);
    await goesOn(id);
  });

  test("a call cut at the output limit is dropped", async () => {
    const id = newConversation();
    stage.model.script(cut(say("Let me look."), call("clock", '{"text":"no')));
    const reply = await stage.say(id, "look");
    expect([reply.text, finishOf(reply)]).toEqual(["Let me look.", "length"]);
    const last = (await goesOn(id)).at(-1);
    expect(last?.bodyText).not.toContain('"tool_use"');
  });

  test("a whole call in an answer cut at the output limit is not run, and the model reads why", async () => {
    const id = newConversation();
    stage.model.script(cut(say("Let me look."), call("clock", { text: "noon" })));
    expect(finishOf(await stage.say(id, "look"))).toBe("length");
    const [result] = resultsOf((await goesOn(id)).at(-1));
    expect(result).toMatchObject({ failed: true, text: "Not run: the answer was cut at the output limit." });
  });

  test("an answer that the provider pauses is sent back and goes on", async () => {
    const id = newConversation();
    stage.model.script([say("Working on it."), search("time", ["clock"]), pause()], say("Done."));
    const reply = await stage.say(id, "work");
    expect([reply.text, finishOf(reply)]).toEqual(["Working on it.\n\nDone.", "stop"]);
    expect(await goesOn(id)).toHaveLength(3);
  });

  test("an answer that was paused and then failed to go on leaves the session valid", async () => {
    const id = newConversation();
    stage.model.script([say("Working on it."), search("time", ["clock"]), pause()], overloaded(false));
    expect((await stage.say(id, "work")).status).toBe(503);
    expect((await goesOn(id)).at(-1)?.bodyText).toContain("Working on it.");
  });
});

describe("a call that can't be run", () => {
  const CASES: [what: string, answer: Answer, says: string][] = [
    ["whose arguments are no JSON", call("clock", '{"text": '), "The input is not valid JSON"],
    ["of a tool that does not exist", callUnseen("abacus"), "There is no tool named abacus."],
    ["of a lazy tool that is not loaded", callUnseen("weather", { text: "x" }), "is not loaded. Call tool_search"],
    ["of a tool that throws", call("fail"), "it failed, as it always does"],
    ["of a destructive tool", call("destroy"), "is destructive, and this agent does not allow that"],
    ["whose input does not match", call("install", { nome: "x" }), "The input does not match"],
    ["whose input is no object", call("install", "[1]"), "The input does not match"],
  ];
  test.each(CASES)("%s gets an error result that the model reads", async (_, answer, says) => {
    const id = newConversation();
    stage.model.script(answer, say("I see."));
    expect((await stage.say(id, "call it")).text).toBe("I see.");
    const [result] = resultsOf(stage.model.requests.at(-1));
    expect(result?.failed).toBe(true);
    expect(result?.text).toContain(says);
    await goesOn(id);
  });
});

describe("the provider fails", () => {
  interface Case {
    readonly what: string;
    readonly script?: Answer[];
    readonly fail?: HttpFailure[];
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly headers?: Record<string, string | null>;
  }
  const limited = () => httpFailure(429, "rate_limit_error", "Slow down.", { "retry-after": "7", ...NO_RETRY });
  const CASES: Case[] = [
    {
      what: "with an error in mid-stream",
      script: [[say("I was about to say"), errorAt(4)]],
      ...{ status: 502, code: "overloaded_error", message: "Overloaded" },
    },
    {
      what: "by cutting the connection before the headers, twice",
      script: [destroyAt("headers"), destroyAt("headers")],
      ...{ status: 502, code: "connection", message: "could not be reached" },
    },
    {
      what: "by cutting the connection in mid-stream",
      script: [[say("I was about to say"), destroyAt(4)]],
      ...{ status: 502, code: "connection", message: "broke off in mid-answer" },
    },
    {
      what: "with 429 and retry-after",
      fail: [limited()],
      ...{ status: 429, code: "rate_limit_exceeded", message: "Slow down." },
      headers: { "retry-after": "7" },
    },
    { what: "with 529", fail: [overloaded(false)], status: 503, code: "overloaded_error", message: "Overloaded" },
    {
      what: "with 500",
      fail: [httpFailure(500, "api_error", "Internal server error", NO_RETRY)],
      ...{ status: 502, code: "api_error", message: "Internal server error" },
    },
    {
      what: "with 400",
      fail: [httpFailure(400, "invalid_request_error", "messages: no.")],
      ...{ status: 502, code: "invalid_request_error", message: "400 (invalid_request_error): messages: no." },
      headers: { "x-should-retry": "false" },
    },
    {
      what: "with 401",
      fail: [httpFailure(401, "authentication_error", "invalid x-api-key")],
      ...{ status: 502, code: "authentication_error", message: "invalid x-api-key" },
      headers: { "x-should-retry": "false", "www-authenticate": null },
    },
  ];
  test.each(CASES)("$what: a readable error, and the next turn is valid", async (one) => {
    for (const stream of [false, true]) {
      stage.model.reset();
      const id = newConversation();
      stage.model.script(...(one.script ?? []));
      stage.model.fail(...(one.fail ?? []));
      const reply = await stage.say(id, "hi", { body: { stream } });
      const error = reply.status === 200 ? errorFrame(reply) : reply.error;
      expect(error?.message).toContain(one.message);
      expect(error?.code).toBe(one.code);
      if (!stream) expect(reply.status).toBe(one.status);
      for (const [name, value] of Object.entries(one.headers ?? {})) expect(reply.headers.get(name)).toBe(value);
      await goesOn(id);
    }
  });

  test.each(CASES)("$what in a later step: the steps before it stay", async (one) => {
    const id = newConversation();
    stage.model.script(call("clock", { text: "noon" }, "call_before"), ...(one.script ?? one.fail ?? []));
    const reply = await stage.say(id, "hi");
    expect([reply.status, reply.error?.code]).toEqual([one.status, one.code]);
    expect(reply.error?.message).toContain(one.message);
    expect((await goesOn(id)).at(-1)?.bodyText).toContain("clock says noon");
  });

  test.each(CASES)("$what: the same message runs again, once", async (one) => {
    const id = newConversation();
    stage.model.script(...(one.script ?? one.fail ?? []), say("Hello."));
    expect((await stage.say(id, "greet me")).status).toBe(one.status);
    expect((await stage.say(id, "greet me")).text).toBe("Hello.");
    const last = stage.model.requests.at(-1);
    expect(last?.bodyText.match(/greet me/g)).toHaveLength(1);
    await goesOn(id);
  });

  test("by cutting the connection after a whole call: the call is not run, and closed", async () => {
    const id = newConversation();
    stage.model.script(call("clock", {}, "call_probe"), say("Done."));
    await stage.say(newConversation(), "how many events are there?");
    const [probe] = stage.model.requests;
    stage.model.reset();
    // Behind the call's last event there are two more.
    stage.model.script([call("clock", {}, "call_whole"), destroyAt((probe?.events ?? 0) - 2)]);
    const reply = await stage.say(id, "look");
    expect([reply.status, reply.error?.code]).toEqual([502, "connection"]);
    expect(resultsOf((await goesOn(id)).at(-1))).toMatchObject([
      { id: "call_whole", failed: true, text: "The turn ended before this call ran." },
    ]);
  });

  test("with 429 once: it is tried again after the time it names, and the caller sees nothing of it", async () => {
    const id = newConversation();
    stage.model.fail(rateLimited(1));
    stage.model.script(say("Hello."));
    expect((await stage.say(id, "hi")).text).toBe("Hello.");
    const [first, second] = stage.model.requests.slice(-2);
    expect(second?.bodyText).toBe(first?.bodyText);
    await goesOn(id);
  });
});

/** The error that a stream ended with, before `[DONE]`. */
function errorFrame(reply: Reply): { message: string; code: string } {
  const frames = String(reply.body).trim().split("\n\n");
  expect(frames.at(-1)).toBe("data: [DONE]");
  return JSON.parse(frames.at(-2)?.slice("data: ".length) ?? "").error;
}

describe("limits", () => {
  test("a turn that takes too many steps ends with an error that says so", async () => {
    const id = newConversation();
    for (let n = 1; n <= 8; n++) stage.model.script(call("clock", { text: `${n}` }));
    const reply = await stage.say(id, "count");
    expect([reply.status, reply.error?.code]).toEqual([422, "steps_limit"]);
    expect(reply.error?.message).toContain("8 model calls");
    const requests = await goesOn(id);
    expect(requests).toHaveLength(9);
    expect(requests.at(-1)?.bodyText).toContain("clock says 8");
  });

  test("a turn that makes the same calls again and again ends, and the last of them are not run", async () => {
    const id = newConversation();
    for (let n = 1; n <= 4; n++) stage.model.script([call("clock", { text: "tick" }), call("fail")]);
    const reply = await stage.say(id, "tick");
    expect([reply.status, reply.error?.code]).toEqual([422, "repeats_limit"]);
    const requests = await goesOn(id);
    expect(requests).toHaveLength(5);
    expect(resultsOf(requests.at(-1))).toMatchObject([
      { failed: true, text: "Not run: the same calls were made 4 times in a row." },
      { failed: true, text: "Not run: the same calls were made 4 times in a row." },
    ]);
  });

  test("calls that differ in one argument are no repeats", async () => {
    const id = newConversation();
    for (const text of ["a", "a", "a", "b", "a", "a"]) stage.model.script(call("clock", { text }));
    stage.model.script(say("Enough."));
    expect((await stage.say(id, "tick")).text).toBe("Enough.");
    await goesOn(id);
  });

  test("a result above 256 KB is cut in the middle, with a line that says so", async () => {
    const id = newConversation();
    stage.model.script(call("wait"), say("Long."));
    const replied = stage.say(id, "read it all");
    (await hook.next()).answer(`HEAD${"ü".repeat(200_000)}TAIL`);
    expect((await replied).text).toBe("Long.");
    const [result] = resultsOf(stage.model.requests.at(-1));
    expect(result?.failed).toBe(false);
    expect(result?.text).toMatch(/^HEADü/);
    expect(result?.text).toMatch(/üTAIL$/);
    expect(result?.text).not.toContain("\ufffd");
    expect(result?.text).toContain(`[… ${400_008 - 256 * 1024} bytes cut here: a result may hold ${256 * 1024} …]`);
    expect(Buffer.byteLength(result?.text ?? "")).toBeLessThan(257 * 1024);
    await goesOn(id);
  });

  test("of ten calls four run at once, and the results stand in the order of the calls", async () => {
    const id = newConversation();
    const ids = Array.from({ length: 10 }, (_, n) => `call_${n}`);
    stage.model.script(
      ids.map((call_id) => call("wait", {}, call_id)),
      say("All ten."),
    );
    const replied = stage.say(id, "ten at once");
    const running = [await hook.next(), await hook.next(), await hook.next(), await hook.next()];
    const begun = running.map((one) => one.id);
    while (running.length > 0) {
      // The newest first, so that they end in another order than they began in.
      const one = running.pop();
      one?.answer(`${one.id} is done`);
      await one?.over;
      if (begun.length < 10) {
        const next = await hook.next();
        running.push(next);
        begun.push(next.id);
      }
    }
    expect((await replied).text).toBe("All ten.");
    expect(hook.peak).toBe(4);
    expect(begun).toEqual(ids);
    const results = resultsOf(stage.model.requests.at(-1));
    expect(results.map(({ text }) => text)).toEqual(ids.map((one) => `${one} is done`));
    expect(results.map((one) => one.id)).toEqual(ids);
    await goesOn(id);
  });
});
