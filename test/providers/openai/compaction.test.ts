import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { SUMMARY_REQUEST, summaryText } from "../../../src/context/compaction.ts";
import { anthropic } from "../../../src/providers/anthropic/provider.ts";
import type { Provider } from "../../../src/providers/contract.ts";
import { openai } from "../../../src/providers/openai/provider.ts";
import { verdictText } from "../../../src/values/turn-event.ts";
import * as claude from "../../emulators/anthropic/index.ts";
import {
  type Answer,
  bodyLayout,
  call,
  compact,
  httpFailure,
  layoutDifference,
  type OpenAIEmulator,
  say,
  startOpenAIEmulator,
} from "../../emulators/openai/index.ts";
import { type Deploy, outcome, type Talk, talk } from "../contract/talk.ts";

const GPT = "openai/gpt-5.4";
const OTHER = "openai/gpt-5.5";
const CLAUDE = "anthropic/claude-sonnet-5";
const TRIGGER = { type: "compaction_trigger" };

const own: Deploy = { model: GPT, compaction: { by: "provider" } };
/** Every call so far used more of the window than this. */
const now: Deploy = { model: GPT, compaction: { by: "provider", threshold: 0.001 } };

let gpt: OpenAIEmulator;
let anthropicApi: Awaited<ReturnType<typeof claude.startAnthropicEmulator>>;
let chat: Talk;
beforeAll(async () => {
  [gpt, anthropicApi] = await Promise.all([startOpenAIEmulator(), claude.startAnthropicEmulator()]);
});
beforeEach(() => {
  chat = talk(
    { openai, anthropic },
    {
      ...{ OPENAI_API_KEY: "key", OPENAI_BASE_URL: gpt.url },
      ...{ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: anthropicApi.url },
    },
  );
});
afterEach(() => {
  gpt.reset();
  anthropicApi.reset();
});
afterAll(() => Promise.all([gpt?.close(), anthropicApi?.close()]));

const bodies = () => gpt.requests.map(({ bodyText }) => bodyText);
const inputOf = (body = "{}"): { type?: string; role?: string; namespace?: string }[] => JSON.parse(body).input;
const isSummary = (body: string) => body.includes(SUMMARY_REQUEST);
const isTrigger = (body: string) => inputOf(body).at(-1)?.type === TRIGGER.type;
const differs = (earlier = "", later = "") => layoutDifference(bodyLayout(earlier), bodyLayout(later));
const verdicts = async () => (await chat.ledger()).map(({ verdict }) => verdictText(verdict));
async function compaction() {
  const found = (await chat.entries()).findLast((entry) => entry.kind === "compaction");
  if (found === undefined) throw new Error("nothing was compacted");
  return found;
}

/** A conversation that loaded and used a tool, and compacts in its second turn. */
async function compacted(...answers: readonly Answer[]): Promise<void> {
  gpt.script(call("tool_search", { query: "weather" }), call("weather", { text: "rain" }), say("Rain."));
  await chat.say("Weather?", own);
  gpt.script(...answers);
  expect(outcome(await chat.say("When?", now))).toBe("end");
}

test("The trigger ends a request that extends the chain's last one, with the calls of tools that joined as they came", async () => {
  await compacted(say("It rained."), compact(), say("Before."));
  const [, , last, summary, trigger, first] = bodies();
  expect([last, summary, trigger, first].map((body = "") => [isSummary(body), isTrigger(body)])).toEqual([
    [false, false],
    [true, false],
    [false, true],
    [false, false],
  ]);
  expect(differs(last, trigger)).toBeNull();
  expect(inputOf(trigger).at(-1)).toEqual(TRIGGER);
  expect(inputOf(trigger).some(({ namespace }) => namespace === "weather")).toBe(true);
  // The message that is answered stays, so neither has to speak of it.
  expect(trigger).not.toContain("When?");
  const { block } = await compaction();
  expect(inputOf(first).map(({ type, role = type }) => role)).toEqual(["developer", "compaction", "user", "user"]);
  expect(JSON.stringify(inputOf(first)[1])).toBe(block?.raw);
});

test("A tool in use is declared anew behind the blob, inline, and can be called", async () => {
  const long = { text: "rain ".repeat(4_000) };
  gpt.script(call("tool_search", { query: "weather, convert" }), call("weather", long));
  // Of the turn that runs only its message and its newest step stay.
  gpt.script(call("clock"), say("It rained."), compact(), call("weather"), say("Still."));
  const steps: Deploy = { model: GPT, compaction: { by: "provider", threshold: 0.005, keep: 500 } };
  expect(outcome(await chat.say("Weather?", steps))).toBe("end");
  expect(await compaction()).toMatchObject({ why: "provider", carriedToolNames: ["weather"] });
  const first = bodies().find((body) => body.includes('"compaction"')) ?? "";
  expect(JSON.parse(first).tools.map(({ name = "tool_search" }) => name)).toEqual([
    ...["clock", "fails", "tool_search", "weather"],
  ]);
  expect(first).not.toContain("additional_tools");
  expect((await verdicts()).slice(-2)).toEqual(["break; cause=compaction", "extends"]);
});

test("Where the API does not take the trigger, the compaction is ours", async () => {
  await compacted(
    say("It rained."),
    httpFailure(400, "invalid_request_error", "Invalid value: 'compaction_trigger'."),
    say("Before."),
  );
  const entry = await compaction();
  expect(entry).toMatchObject({ why: "threshold", summary: "It rained." });
  expect(entry.block).toBeUndefined();
  expect(bodies().at(-1)).toContain(JSON.stringify(summaryText("It rained.")));
  expect((await chat.ledger()).map(({ purpose, answered }) => [purpose, answered]).slice(3)).toEqual([
    ["summary", true],
    ["summary", false],
    [undefined, true],
  ]);
});

test("Without a summary there is no compaction, and no trigger is sent", async () => {
  await compacted(httpFailure(400, "invalid_request_error", "No."), say("Before."));
  expect(bodies().some(isTrigger)).toBe(false);
  expect((await chat.entries()).some(({ kind }) => kind === "compaction")).toBe(false);
  expect((await verdicts()).slice(3)).toEqual(["extends", "extends"]);
});

test("Only the model that made a blob gets it; all others read the summary, and that one gets it again", async () => {
  await compacted(say("It rained."), compact(), say("Before."));
  const raw = (await compaction()).block?.raw ?? "";
  gpt.script(say("Other."));
  expect(outcome(await chat.say("And you?", { ...own, model: OTHER }))).toBe("end");
  anthropicApi.script(say("Third."));
  expect(outcome(await chat.say("And you?", { ...own, model: CLAUDE }))).toBe("end");
  gpt.script(say("Back."));
  expect(outcome(await chat.say("And you?", own))).toBe("end");
  const [first, other, back] = bodies().slice(-3);
  expect([first, other, back].map((body) => body?.includes(raw))).toEqual([true, false, true]);
  expect(other).toContain(JSON.stringify(summaryText("It rained.")));
  const third = anthropicApi.requests.at(-1)?.bodyText;
  expect(third).toContain(JSON.stringify(summaryText("It rained.")));
  expect(third).not.toContain("encrypted_content");
  expect(differs(first, back)).toBeNull();
});

test("A blob that the API can't read any more costs the cache once, not the conversation", async () => {
  await compacted(say("It rained."), compact(), say("Before."));
  const raw = (await compaction()).block?.raw ?? "";
  const message = "The encrypted content for item cmp_1 could not be verified.";
  gpt.script(httpFailure(400, "invalid_request_error", message, "invalid_encrypted_content"), say("Anew."));
  expect(outcome(await chat.say("Still there?", own))).toBe("end");
  gpt.script(say("Yes."));
  expect(outcome(await chat.say("And now?", own))).toBe("end");
  const [refused, anew, next] = bodies().slice(-3);
  expect([refused, anew, next].map((body) => body?.includes(raw))).toEqual([true, false, false]);
  for (const said of [JSON.stringify(summaryText("It rained.")), "When?", "Before.", "Still there?"]) {
    expect(anew).toContain(said);
  }
  expect(differs(anew, next)).toBeNull();
  expect((await verdicts()).slice(-3)).toEqual(["extends", "break; cause=compaction", "extends"]);
});

test("A request that was too long is shortened by a summary of ours", async () => {
  gpt.script(say("One."), say("Two."));
  await chat.say(`first ${"word ".repeat(500)}`, own);
  await chat.say("second", own);
  const tooLong = httpFailure(400, "invalid_request_error", "Your input exceeds the context window of this model.");
  gpt.script(tooLong, say("Summary."), say("Three."));
  expect(outcome(await chat.say("third", own))).toBe("end");
  expect(bodies().some(isTrigger)).toBe(false);
  expect(await compaction()).toMatchObject({ why: "too_long", summary: "Summary." });
});

test("An agent that does not ask for it gets a summary alone", async () => {
  gpt.script(say("One."), say("Summary."), say("Two."));
  await chat.say("first", { model: GPT });
  await chat.say("second", { model: GPT, compaction: { threshold: 0.001 } });
  expect(bodies().some(isTrigger)).toBe(false);
});

test("Every model of the table that compacts when asked is asked by the trigger, and one that is not in it never is", () => {
  expect(openai.facts("gpt-5.4-mini").compacts).toBe("when_asked");
  expect(JSON.parse(openai.compactionTrigger ?? "null")).toEqual(TRIGGER);
  expect(openai.facts("some-model").compacts).toBeUndefined();
});

test("A compaction that nobody asked for is left aside: the history still says all of it", async () => {
  const unasked: Provider = {
    ...openai,
    async *stream() {
      yield { type: "begun", id: "resp_1" };
      yield { type: "compacted", summary: null, raw: '{"type":"compaction","encrypted_content":"unasked"}' };
      yield { type: "block", block: { type: "text", text: "Hello." } };
      yield { type: "stop", stop: "end" };
    },
  };
  const session = talk({ openai: unasked }, { OPENAI_API_KEY: "key" });
  expect(outcome(await session.say("Hello?", own))).toBe("end");
  expect((await session.entries()).map(({ kind }) => kind)).toEqual(["user", "assistant"]);
});
