import { expect, test } from "vitest";
import * as z from "zod";
import { defineAgent } from "../../src/define/agent.ts";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";
import { type Answer, call, expectExtends, say, scripted, testAgent } from "../../src/testing.ts";
import type { Entry } from "../../src/values/entry.ts";

const askCity = defineTool({
  name: "ask_city",
  description: "Asks for a city.",
  input: z.object({ hint: z.string().optional() }),
  execute: ({ hint }, { ask }) => ask({ question: `Which city?${hint ?? ""}`, options: ["Rome", "Oslo"] }),
});
const clock = defineTool({ name: "clock", description: "The time.", execute: () => "noon" });
const agent = defineAgent({
  name: "assistant",
  description: "For a test.",
  model: "anthropic/claude-opus-5-5",
  settings: { thinking: true },
  tools: [askCity, clock, lazy(defineTool({ name: "weather", description: "Weather.", execute: () => "sun" }))],
});

const texts = (entry: Entry | undefined) =>
  entry?.kind === "results"
    ? entry.results.map(({ name, status, content }) => [
        name,
        status,
        content.map((part) => "text" in part && part.text),
      ])
    : null;

function open(...answers: readonly Answer[]) {
  const model = scripted(...answers);
  return { model, tested: testAgent(agent, { model: model.provider }) };
}

test("a tool that asks ends the turn, and its answer goes on with it as the call's result", async () => {
  const { model, tested } = open(
    [say("Let me ask."), call("clock"), call("ask_city")],
    say("Sunny in Rome."),
    say("Bye."),
  );
  const first = await tested.say("How is the weather?");
  const [pause, ...others] = await tested.pauses();
  expect(others).toEqual([]);
  expect(pause).toMatchObject({ kind: "question", question: "Which city?", options: ["Rome", "Oslo"] });
  expect(first.events.at(-2)).toMatchObject({ type: "pause", pause });
  expect(first.events.at(-1)).toMatchObject({ type: "done", stop: "paused" });
  expect((await tested.entries()).map(({ kind }) => kind)).toEqual(["user", "assistant", "pause"]);

  const rest = await tested.answer(pause?.id ?? "", { kind: "question", answer: "Rome" });
  expect(rest?.text).toBe("Sunny in Rome.");
  const entries = await tested.entries();
  expect(entries.map(({ kind }) => kind)).toEqual([
    ...["user", "assistant", "pause", "pause_answer", "results", "assistant"],
  ]);
  expect(texts(entries[4])).toEqual([
    ["clock", "ok", ["noon"]],
    ["ask_city", "ok", ["Rome"]],
  ]);
  expect(new Set(entries.map(({ turn }) => turn)).size).toBe(1);
  expect(await tested.pauses()).toEqual([]);
  await tested.say("Thanks.");
  expectExtends(model.requests);
  expect((await tested.ledger()).map(({ step }) => step)).toEqual([1, 2, 1]);
});

test("of two pauses the turn goes on with the last answer, and each call has its own", async () => {
  const { tested } = open([call("ask_city", { hint: " A" }), call("ask_city", { hint: " B" })], say("Both."));
  await tested.say("Plan two trips.");
  const [a, b] = await tested.pauses();
  expect(await tested.answer(b?.id ?? "", { kind: "question", answer: "Oslo" })).toBeNull();
  expect((await tested.pauses()).map(({ id }) => id)).toEqual([a?.id]);
  expect((await tested.answer(a?.id ?? "", { kind: "question", answer: "Rome" }))?.text).toBe("Both.");
  expect(texts((await tested.entries()).find(({ kind }) => kind === "results"))).toEqual([
    ["ask_city", "ok", ["Rome"]],
    ["ask_city", "ok", ["Oslo"]],
  ]);
});

test("an answer twice is one, another one is refused, and so is one of another kind or to no pause", async () => {
  const { tested } = open(call("ask_city"), say("Sunny."));
  await tested.say("Weather?");
  const [pause] = await tested.pauses();
  const id = pause?.id ?? "";
  await expect(tested.answer("pause_0", { kind: "question", answer: "x" })).rejects.toThrow("There is no pause");
  await expect(tested.answer(id, { kind: "plan", decision: "approve" })).rejects.toThrow("kind question");
  expect((await tested.answer(id, { kind: "question", answer: "Rome" }))?.text).toBe("Sunny.");
  expect(await tested.answer(id, { kind: "question", answer: "Rome" })).toBeNull();
  await expect(tested.answer(id, { kind: "question", answer: "Oslo" })).rejects.toThrow("answered otherwise");
  expect((await tested.entries()).filter(({ kind }) => kind === "results")).toHaveLength(1);
});

test("a message closes a pause: its call is told that nobody answered, the others keep their results", async () => {
  const { model, tested } = open([call("clock"), call("ask_city")], say("All right."));
  await tested.say("Weather?");
  const [pause] = await tested.pauses();
  expect((await tested.say("Never mind.")).text).toBe("All right.");
  const entries = await tested.entries();
  expect(entries.map(({ kind }) => kind)).toEqual(["user", "assistant", "pause", "results", "user", "assistant"]);
  expect(texts(entries[3])).toEqual([
    ["clock", "ok", ["noon"]],
    ["ask_city", "interrupted", ["Nobody answered this. A message follows instead."]],
  ]);
  expect(await tested.pauses()).toEqual([]);
  await expect(tested.answer(pause?.id ?? "", { kind: "question", answer: "Rome" })).rejects.toThrow("later message");
  expectExtends(model.requests);
});

test("a question that is empty fails its tool, and the model reads why", async () => {
  const empty = defineTool({ name: "empty", description: "Asks nothing.", execute: (_, { ask }) => ask(" ") });
  const asker = defineAgent({
    name: "asker",
    description: "Asks.",
    model: "anthropic/claude-sonnet-5",
    tools: [empty],
  });
  const tested = testAgent(asker, { model: scripted(call("empty"), say("Well.")).provider });
  expect((await tested.say("?")).text).toBe("Well.");
  expect(texts((await tested.entries()).find(({ kind }) => kind === "results"))).toEqual([
    ["empty", "error", ["ask needs a question"]],
  ]);
});
