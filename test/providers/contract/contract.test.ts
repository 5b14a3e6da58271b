import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verdictText } from "../../../src/values/turn-event.ts";
import { call, callUnseen, cut, destroyAt, say, think } from "../../emulators/common/answer.ts";
import { layoutDifference } from "../../emulators/common/layout.ts";
import { CONTENDERS, type Stage } from "./contenders.ts";
import { outcome, type Talk, talk } from "./talk.ts";

/** Models whose thinking is signed or encrypted for one account. */
const THINKS = new Set(["anthropic/claude-sonnet-5", "openai/gpt-5.4", "openai/gpt-5.6", "openai/gpt-5"]);

const search = (query: string) => call("tool_search", { query });

describe.each(CONTENDERS)("$name", ({ key, model, late, env, provider, start, callLate, layout }) => {
  const full = `${key}/${model}`;
  const plain = { model: full };
  let stage: Stage;
  let chat: Talk;
  beforeAll(async () => {
    stage = await start();
  });
  beforeEach(() => {
    chat = talk({ [key]: provider(stage.url) }, env(stage.url));
  });
  afterEach(() => stage.reset());
  afterAll(() => stage?.close());

  /** Why each accepted request does not extend the one before, `null` where it does. */
  const differences = () => {
    const bodies = stage.requests().flatMap(({ body, status }) => (status === 200 ? [body] : []));
    return bodies.slice(1).map((body, index) => layoutDifference(layout(bodies[index] ?? ""), layout(body)));
  };
  const verdicts = async () => (await chat.ledger()).map(({ verdict }) => verdictText(verdict));
  /** All requests were taken. */
  const accepted = () => stage.requests().every(({ status }) => status === 200);
  /** What a request that declares a late tool should be called. */
  const loading = late === "extends" ? "extends" : "break; cause=late_inline";

  test("reload: a tool that was loaded can be called in the next turn, in a fresh isolate", async () => {
    stage.script(search("weather"), callLate("weather", { text: "rain" }), say("Rain."));
    expect(outcome(await chat.say("Weather?", plain))).toBe("end");
    stage.script([say("Again."), callLate("weather", { text: "now" })], say("Still."));
    expect(outcome(await chat.say("And now?", plain))).toBe("end");
    expect(await verdicts()).toEqual(["first", loading, "extends", "extends", "extends"]);
    expect(differences().filter((why) => why !== null)).toHaveLength(late === "extends" ? 0 : 1);
    const results = (await chat.entries()).flatMap((entry) => (entry.kind === "results" ? entry.results : []));
    expect(results.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "tool_search ok",
      "weather ok",
      "weather ok",
    ]);
    expect(accepted()).toBe(true);
  });

  test("restore: what was loaded stays loaded over many turns, and nothing else is", async () => {
    stage.script(search("weather"), say("Loaded."));
    await chat.say("Load it.", plain);
    for (const text of ["one", "two", "three"]) {
      stage.script(say(text));
      await chat.say(text, plain);
    }
    stage.script([callLate("weather"), callUnseen("convert")], say("Done."));
    await chat.say("Use it.", plain);
    const results = (await chat.entries()).flatMap((entry) => (entry.kind === "results" ? entry.results : []));
    expect(results.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "tool_search ok",
      "weather ok",
      "convert error",
    ]);
    expect(accepted()).toBe(true);
    expect((await verdicts()).slice(2)).toEqual(Array(5).fill("extends"));
  });

  test("late tools: a core tool that a deploy adds joins between two turns and can be called", async () => {
    stage.script(call("clock"), say("Noon."));
    await chat.say("Time?", plain);
    const later = { ...plain, core: ["translate"] };
    stage.script(callLate("translate", { text: "noon" }), say("Mittag."));
    expect(outcome(await chat.say("Translate.", later))).toBe("end");
    stage.script(callLate("translate"), say("Again."));
    expect(outcome(await chat.say("Again.", later))).toBe("end");
    expect(await verdicts()).toEqual(["first", "extends", loading, "extends", "extends", "extends"]);
    expect(accepted()).toBe(true);
  });

  test("late tools without host searches are declared breaks, never refused", async () => {
    const own = { ...plain, hostSearch: false };
    stage.script(call("clock"), say("Noon."));
    await chat.say("Time?", own);
    stage.script(callLate("translate"), say("Mittag."));
    expect(outcome(await chat.say("Translate.", { ...own, core: ["translate"] }))).toBe("end");
    expect((await verdicts())[2]).toBe("break; cause=late_inline");
    expect(accepted()).toBe(true);
  });

  test("parallel calls: searches, failures and successes in one batch", async () => {
    stage.script(
      [say("All at once."), search("weather"), search("convert, clock"), call("fails"), call("clock")],
      [callLate("weather"), call("fails"), callLate("convert")],
      say("Done."),
    );
    expect(outcome(await chat.say("Everything.", plain))).toBe("end");
    expect((await verdicts()).slice(1)).toEqual([loading, "extends"]);
    expect(accepted()).toBe(true);
  });

  test("thinking comes back where it belongs, in the turn and in the next", async () => {
    stage.script(
      [think("A tool."), search("weather")],
      [think("Now."), callLate("weather")],
      [think("So."), say("Rain.")],
    );
    await chat.say("Weather?", plain);
    stage.script([think("Hm."), say("Welcome.")]);
    expect(outcome(await chat.say("Thanks.", plain))).toBe("end");
    expect(await verdicts()).toEqual(["first", loading, "extends", "extends"]);
    expect(accepted()).toBe(true);
  });

  test("odd input: what is no JSON, what names no tool, what is odd in JSON", async () => {
    const odd = '{"text":"\\u00e9 \\n \\"q\\"","10":1,"2":12345678901234567890}';
    stage.script([call("clock", '{"text": tru'), callUnseen("nothing_like_it"), call("clock", odd)], say("Odd."));
    expect(outcome(await chat.say("Be odd.", plain))).toBe("end");
    stage.script(say("Fine."));
    expect(outcome(await chat.say("And?", plain))).toBe("end");
    const calls = (await chat.entries()).flatMap((entry) => (entry.kind === "assistant" ? entry.blocks : []));
    expect(calls.flatMap((block) => (block.type === "call" ? [block.input] : []))).toContain(odd);
    expect(accepted()).toBe(true);
    expect(differences()).toEqual([null, null]);
  });

  test("errors: a rate limit that lasts fails readably, and the next turn goes on", async () => {
    stage.script(0.02, 0.02);
    const events = await chat.say("Hello?", plain);
    expect(outcome(events)).toMatch(/^failed: The model provider answered 429/);
    expect(events.at(-1)).toMatchObject({ failure: { reason: "provider", status: 429, retryAfter: 0.02 } });
    stage.script(say("Here."));
    expect(outcome(await chat.say("Hello?", plain))).toBe("end");
    expect((await chat.ledger()).map(({ answered }) => answered)).toEqual([false, true]);
  });

  test("errors: a failure that passes is not seen", async () => {
    stage.script("down", say("Here."));
    expect(outcome(await chat.say("Hello?", plain))).toBe("end");
  });

  test("errors: a connection that breaks in mid-answer keeps the text, and the next turn is valid", async () => {
    stage.script([say("Hello there, my old friend."), call("clock"), destroyAt(6)]);
    expect(outcome(await chat.say("Hello?", plain))).toMatch(/^failed: The connection to the model provider broke off/);
    stage.script(call("clock"), say("Noon."));
    expect(outcome(await chat.say("Time?", plain))).toBe("end");
    expect(
      stage
        .requests()
        .slice(1)
        .every(({ status }) => status === 200),
    ).toBe(true);
  });

  test("errors: an answer that is cut at the output limit says so, and the next turn is valid", async () => {
    stage.script(cut(think("Hm."), say("Let me"), call("clock", '{"text":"ha')));
    expect(outcome(await chat.say("Go.", plain))).toBe("length");
    stage.script(cut("half a wo"));
    expect(outcome(await chat.say("Go on.", plain))).toBe("length");
    stage.script(say("Whole."));
    expect(outcome(await chat.say("Finish.", plain))).toBe("end");
    expect(accepted()).toBe(true);
  });

  test.runIf(THINKS.has(full))(
    "errors: an account that refuses another's thinking costs the cache, not the conversation",
    async () => {
      stage.script(
        [think("Hm."), search("weather")],
        [think("So."), callLate("weather")],
        [think("Yes."), say("Rain.")],
      );
      await chat.say("Weather?", plain);
      stage.script("unsigned", [think("Hm."), callLate("weather")], say("Still."));
      expect(outcome(await chat.say("And now?", plain))).toBe("end");
      stage.script(say("Dry."));
      expect(outcome(await chat.say("And then?", plain))).toBe("end");
      expect((await verdicts()).slice(3)).toEqual(["extends", "break; cause=settings", "extends", "extends"]);
      const [refused, renewed, next] = stage.requests().slice(3);
      const thinking = /"encrypted_content"|"signature"/g;
      expect(refused?.body.match(thinking)?.length).toBe(3);
      expect(renewed?.body).not.toMatch(thinking);
      expect(next?.body.match(thinking)?.length).toBe(1);
    },
  );

  test("usage: what the ledger says of the cache is what the provider counted, and later requests read from it", async () => {
    stage.script(search("weather"), callLate("weather"), say("Rain."));
    await chat.say("Weather?", plain);
    stage.script(call("clock"), say("Noon."));
    await chat.say("Time?", plain);
    const counted = stage.requests().map((request) => request.counted);
    const ledger = (await chat.ledger()).map(({ usage: { output: _, ...usage } }) => usage);
    expect(ledger).toEqual(counted);
    const first = ledger[0];
    const whole = (usage: typeof first) => (usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0);
    expect(whole(first)).toBeGreaterThan(1024);
    for (const usage of ledger.slice(late === "extends" ? 1 : 2)) expect(usage.cacheRead).toBeGreaterThan(1000);
  });
});
