import { afterAll, beforeAll, expect, test } from "vitest";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import { type Answer, call, type RecordedRequest, say, think } from "../emulators/anthropic/index.ts";
import {
  declared,
  expectAllExtend,
  expectValid,
  loadedAt,
  type SayOptions,
  type Stage,
  startStage,
  verdicts,
} from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

/** A deploy that runs the agent on this model of Anthropic's. */
async function deploy(model: string, settings: object = {}): Promise<void> {
  await stage.workerd.fresh({ MODEL: `anthropic/${model}`, SETTINGS: JSON.stringify(settings) });
}

/** A turn whose requests are all valid, each beyond the first with what came before it. */
async function turn(conversation: string, text: string, answers: readonly Answer[], options: SayOptions = {}) {
  stage.model.script(...answers);
  const reply = await stage.say(conversation, text, options);
  expect(reply.error).toBeNull();
  const requests = stage.takeRequests();
  expect(requests).toHaveLength(answers.length);
  for (const request of requests) expectValid(request);
  return { said: reply.text, requests, prefix: reply.headers.get("x-holdfast-prefix") };
}

/** The thoughts that a request replays. */
function thoughts(request: RecordedRequest | undefined): string[] {
  const { messages }: { messages: { content: { type: string; thinking?: string }[] }[] } = JSON.parse(
    request?.bodyText ?? '{"messages":[]}',
  );
  return messages.flatMap(({ content }) => content.flatMap(({ thinking }) => thinking ?? []));
}

/** Blocks of the messages as they stand in the body, markers aside. */
function blocks(request: RecordedRequest | undefined): string[] {
  const { messages }: { messages: { content: object[] }[] } = JSON.parse(request?.bodyText ?? '{"messages":[]}');
  return messages.flatMap(({ content }) =>
    content.map((block) => JSON.stringify({ ...block, cache_control: undefined })),
  );
}

const search = (query: string) => call("tool_search", { query });
const LATE_INLINE = "break; cause=late_inline";

test("a model that defers nothing gets loaded tools inline, and each load is a declared break", async () => {
  await deploy("claude-opus-4-1");
  const first = await turn("inline", "weather?", [search("weather"), call("weather"), say("Rain.")]);
  await stage.workerd.fresh();
  const second = await turn("inline", "again", [call("weather"), say("Rain.")]);
  const third = await turn("inline", "convert", [
    call("clock"),
    [search("convert"), search("weather")],
    say("Loaded."),
  ]);
  const requests = [...first.requests, ...second.requests, ...third.requests];
  expect(await verdicts(stage, "inline")).toEqual([
    ...["first", LATE_INLINE, "extends"],
    ...["extends", "extends"],
    ...["extends", "extends", LATE_INLINE],
  ]);
  const core = declared(requests[0]).inline;
  for (const request of requests) expect(declared(request).deferred).toEqual([]);
  for (const request of requests) expect(request.bodyText).not.toMatch(/tool_reference|defer_loading|hfl_/);
  expect(declared(requests[1]).inline).toEqual([...core, "weather"]);
  expect(declared(requests.at(-1)).inline).toEqual([...core, "weather", "convert"]);
  // The tools differ; what was said stays as it was.
  for (const [index, request] of requests.slice(1).entries()) {
    expect(blocks(request).slice(0, blocks(requests[index]).length)).toEqual(blocks(requests[index]));
  }
});

test("where tools go inline a load takes no thinking from the turn that runs", async () => {
  await deploy("claude-opus-4-1", { thinking: 1024, maxOutputTokens: 4000 });
  const first = await turn("inline-thinking", "weather?", [
    [think("search"), search("weather")],
    [think("use"), call("weather")],
    [think("done"), say("Rain.")],
  ]);
  expect(first.requests.map(thoughts)).toEqual([[], ["search"], ["search", "use"]]);
  await stage.workerd.fresh();
  const second = await turn("inline-thinking", "convert", [
    [think("search again"), search("convert")],
    [think("use again"), call("convert")],
    say("Converted."),
  ]);
  expect(second.requests.map((request) => thoughts(request).slice(-2))).toEqual([
    ["use", "done"],
    ["search again"],
    ["search again", "use again"],
  ]);
  expect(await verdicts(stage, "inline-thinking")).toEqual([
    ...["first", LATE_INLINE, "extends"],
    ...["extends", LATE_INLINE, "extends"],
  ]);
  // The turn before has lost its thinking with the epoch, the turn that runs has not.
  expect(thoughts(second.requests[1])).toEqual(["search again"]);
});

test("another model starts a chain of its own, and going back resumes the earlier one", async () => {
  await deploy("claude-opus-5-5", { thinking: true });
  const there = await turn("switch", "weather?", [
    [think("search"), search("weather")],
    [think("use"), call("weather")],
    [think("done"), say("Rain.")],
  ]);
  await deploy("claude-sonnet-4-6", { thinking: true });
  const other = await turn("switch", "and now?", [
    [think("elsewhere"), call("weather"), search("convert")],
    [think("there"), say("Still rain.")],
  ]);
  expect(other.prefix).toBe("break; cause=model");
  expect(declared(other.requests[0])).toEqual(declared(there.requests.at(-1)));
  expect(loadedAt(other.requests[0])).toEqual(loadedAt(there.requests.at(-1)));
  expect(other.requests.map(thoughts)).toEqual([[], ["elsewhere"]]);
  expectAllExtend(other.requests);

  await deploy("claude-opus-5-5", { thinking: true });
  const back = await turn("switch", "back again", [[think("home"), call("convert")], say("Converted.")]);
  expect(back.prefix).toBe("extends");
  expectAllExtend([...there.requests, ...back.requests]);
  expect(thoughts(back.requests[1])).toEqual(["search", "use", "done", "home"]);
  expect(declared(back.requests[0]).deferred).toEqual(["weather", "convert"]);

  // And once more to the other one, whose chain goes on as well.
  await deploy("claude-sonnet-4-6", { thinking: true });
  const again = await turn("switch", "to and fro", [say("Here.")]);
  expect(again.prefix).toBe("extends");
  expectAllExtend([...other.requests, ...again.requests]);
});

test("a model that defers nothing and one that does take over from each other with all that was loaded", async () => {
  await deploy("claude-opus-4-1");
  const inline = await turn("levels", "weather?", [search("weather"), call("weather"), say("Rain.")]);
  await deploy("claude-sonnet-5");
  const deferred = await turn("levels", "again", [call("weather"), search("convert"), say("Rain.")]);
  expect(deferred.prefix).toBe("break; cause=model");
  expect(declared(deferred.requests[0]).deferred).toEqual(["weather"]);
  expectAllExtend(deferred.requests);
  await deploy("claude-opus-4-1");
  const back = await turn("levels", "back", [call("convert"), say("Converted.")]);
  expect(back.prefix).toBe(LATE_INLINE);
  expect(declared(back.requests[0]).inline).toEqual([...declared(inline.requests[0]).inline, "weather", "convert"]);
});

test("regenerating keeps bound thinking valid, whatever was cut", async () => {
  await deploy("claude-opus-5-5", { thinking: true });
  const { said, requests } = await turn("again", "weather?", [
    [think("search"), search("weather")],
    [think("use"), say("I look."), call("weather")],
    [think("done"), say("Rain.")],
  ]);
  const history = [
    { role: "user", content: "weather?" },
    { role: "assistant", content: said },
  ];
  // An answer that no request carried yet: nothing sent changes.
  const told = await turn("again", "and tomorrow?", [[think("one"), say("Sun.")]], { history });
  const anew = await turn(
    "again",
    "and tomorrow?",
    [
      [think("two"), call("weather")],
      [think("three"), say("Snow.")],
    ],
    { history },
  );
  expect(anew.prefix).toBe("extends");
  expectAllExtend([...requests, ...told.requests, ...anew.requests]);

  // An answer in two steps, of which one was sent: the next request goes on from what is left.
  const cut = await turn(
    "again",
    "and tomorrow?",
    [
      [think("four"), call("clock")],
      [think("five"), say("Fog.")],
    ],
    { history },
  );
  expect(cut.prefix).toBe("break; cause=rewind");
  expect(thoughts(cut.requests[1])).toEqual(["search", "use", "done", "four"]);
  expect(whyNotExtends(requests.at(-1)?.bodyText ?? "", cut.requests[0]?.bodyText ?? "")).toBeNull();
  await stage.workerd.fresh();
  const on = await turn("again", "thanks", [[think("six"), search("convert")], say("Ready.")]);
  expect(on.prefix).toBe("extends");
  expectAllExtend([...cut.requests, ...on.requests]);
  expect(declared(on.requests.at(-1)).deferred).toEqual(["weather", "convert"]);

  // A rewind that takes a load point with it: a new baseline, with what the evidence that is left restores.
  const edited = await turn("again", "and the sea?", [[think("seven"), call("weather")], say("Calm.")], { history });
  expect(edited.prefix).toBe("break; cause=rewind");
  expect(declared(edited.requests[0])).toEqual({ inline: [...declared(requests[0]).inline, "weather"], deferred: [] });
  expect(edited.requests.map(thoughts)).toEqual([[], ["seven"]]);
  const last = await turn("again", "thanks again", [search("convert"), say("Ready.")]);
  expect(last.prefix).toBe("extends");
  expectAllExtend([...edited.requests, ...last.requests]);
});

test("manual thinking stays valid across loads, results and fresh isolates", async () => {
  await deploy("claude-sonnet-4-5", { thinking: 1024, maxOutputTokens: 4000 });
  const first = await turn("manual", "weather?", [
    [think("search"), say("Looking."), search("weather")],
    [think("use"), call("weather"), search("clock, convert"), call("fail")],
    [think("more"), call("convert")],
    [think("done"), say("Rain.")],
  ]);
  await stage.workerd.fresh();
  const second = await turn("manual", "more", [[think("again"), call("weather"), call("convert")], say("Both.")]);
  expectAllExtend([...first.requests, ...second.requests]);
  expect(thoughts(second.requests[1])).toEqual(["search", "use", "more", "done", "again"]);
});
