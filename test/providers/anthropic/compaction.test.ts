import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { summaryText } from "../../../src/context/compaction.ts";
import { anthropic } from "../../../src/providers/anthropic/provider.ts";
import { verdictText } from "../../../src/values/turn-event.ts";
import { whyNotExtends } from "../../emulators/anthropic/extends.ts";
import {
  call,
  compact,
  type Emulator,
  httpFailure,
  say,
  startAnthropicEmulator,
  stop,
} from "../../emulators/anthropic/index.ts";
import { type Deploy, outcome, type Talk, talk } from "../contract/talk.ts";

const CLAUDE: Deploy = { model: "anthropic/claude-sonnet-5", compaction: { by: "provider" } };
const RAW = '{"type":"compaction"';

let api: Emulator;
let chat: Talk;
beforeAll(async () => {
  api = await startAnthropicEmulator();
});
beforeEach(async () => {
  chat = talk({ anthropic }, { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: api.url });
  api.script(say("One."), [compact("They spoke."), stop("compaction")], say("Two."));
  await chat.say("First.", CLAUDE);
  expect(outcome(await chat.say("Second.", CLAUDE))).toBe("end");
});
afterEach(() => api.reset());
afterAll(() => api?.close());

const bodies = () => api.requests.map(({ bodyText }) => bodyText);

test("a model that does not compact gets the text of another one's block, and that one its block again", async () => {
  api.script(say("Three."), say("Four."));
  expect(outcome(await chat.say("Third.", { ...CLAUDE, model: "anthropic/claude-sonnet-4-5" }))).toBe("end");
  expect(outcome(await chat.say("Fourth.", CLAUDE))).toBe("end");
  const [before, other, back] = bodies().slice(-3);
  expect([before, other, back].map((body) => body?.includes(RAW))).toEqual([true, false, true]);
  expect(other).toContain(JSON.stringify(summaryText("They spoke.")));
  expect(whyNotExtends(before ?? "", back ?? "")).toBeNull();
});

test("a block that the API refuses costs the cache once, not the conversation", async () => {
  const message =
    "messages.0.content.0: Input tag 'compaction' found using 'type' does not match any of the expected tags";
  api.script(httpFailure(400, "invalid_request_error", message), say("Three."), say("Four."));
  expect(outcome(await chat.say("Third.", CLAUDE))).toBe("end");
  expect(outcome(await chat.say("Fourth.", CLAUDE))).toBe("end");
  const [refused, anew, next] = bodies().slice(-3);
  expect([refused, anew, next].map((body) => body?.includes(RAW))).toEqual([true, false, false]);
  expect(anew).toContain(JSON.stringify(summaryText("They spoke.")));
  expect(whyNotExtends(anew ?? "", next ?? "")).toBeNull();
  const verdicts = (await chat.ledger()).map(({ verdict }) => verdictText(verdict));
  expect(verdicts.slice(-3)).toEqual(["extends", "break; cause=compaction", "extends"]);
});

test("a part of a conversation declares the tools that its calls are of, wherever they were loaded", async () => {
  const long = (what: string) => `${what} ${"word ".repeat(60_000)}`;
  chat = talk({ anthropic }, { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: api.url });
  api.script(call("tool_search", { query: "weather" }), call("weather"), say("One."));
  api.script(call("weather"), say("Two."), call("weather"), say("Three."));
  for (const what of ["first", "second", "third"]) await chat.say(long(what), { model: "anthropic/claude-sonnet-5" });
  const before = bodies().length;
  api.script(say("A."), say("B."), say("C."), say("Four."));
  expect(outcome(await chat.say("fourth", { model: "anthropic/claude-sonnet-4-5" }))).toBe("end");
  const parts = bodies().slice(before + 1);
  expect(parts.length).toBe(4);
  for (const body of parts.map((text) => JSON.parse(text))) {
    const blocks: { type: string; name: string }[] = body.messages.flatMap(
      ({ content }: { content: unknown }) => content,
    );
    const called = blocks.flatMap(({ type, name }) => (type === "tool_use" ? [name] : []));
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(called));
  }
});

test("a conversation that is too long for the model it moves to is summarised in parts by that model", async () => {
  const long = (what: string) => `${what} ${"word ".repeat(60_000)}`;
  const small: Deploy = { model: "anthropic/claude-sonnet-4-5" };
  chat = talk({ anthropic }, { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: api.url });
  api.script(say("One."), say("Two."), say("Three."));
  for (const what of ["first", "second", "third"]) await chat.say(long(what), { model: "anthropic/claude-sonnet-5" });
  const before = bodies().length;
  api.script(say("On the first."), say("On both."), say("On all."), say("Four."));
  expect(outcome(await chat.say("fourth", small))).toBe("end");
  const [refused, ...parts] = bodies().slice(before);
  expect(refused).toMatch(/first word.*second word.*third word/);
  expect(parts).toHaveLength(4);
  const has = (body = "") => ["first word", "second word", "third word", "fourth"].map((what) => body.includes(what));
  expect(parts.map(has)).toEqual([
    [true, false, false, false],
    [false, true, false, false],
    [false, false, true, false],
    [false, false, false, true],
  ]);
  const summary = (text: string) => JSON.stringify(summaryText(text));
  expect(parts[1]).toContain(summary("On the first."));
  expect(parts[2]).toContain(summary("On both."));
  expect(parts[3]).toContain(summary("On all."));
  expect(api.requests.slice(before).map(({ status }) => status)).toEqual([400, 200, 200, 200, 200]);
  api.script(say("Five."));
  expect(outcome(await chat.say("fifth", small))).toBe("end");
  expect(whyNotExtends(parts[3] ?? "", bodies().at(-1) ?? "")).toBeNull();
});
