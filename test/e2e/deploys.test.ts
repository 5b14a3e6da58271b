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

/** A worker as it was first deployed, with these changes. */
async function deploy(changes: Readonly<Record<string, string>> = {}): Promise<void> {
  const first = { LATE: "", HOST_SEARCH: "on", REVISION: "1", DESCRIPTIONS: "", ORDER: "", SETTINGS: "{}" };
  await stage.workerd.fresh({ MODEL: "anthropic/claude-sonnet-5", ...first, ...changes });
}

async function turn(conversation: string, text: string, answers: readonly Answer[], options: SayOptions = {}) {
  stage.model.script(...answers);
  const reply = await stage.say(conversation, text, options);
  expect(reply.error).toBeNull();
  const requests = stage.takeRequests();
  expect(requests).toHaveLength(answers.length);
  for (const request of requests) expectValid(request);
  return { requests, prefix: reply.headers.get("x-holdfast-prefix") };
}

const search = (query: string) => call("tool_search", { query });
const system = (request: RecordedRequest | undefined): string =>
  JSON.stringify(JSON.parse(request?.bodyText ?? "{}").system);

test("without host searches a tool that comes before any call stays inline, and moves to the first call there is", async () => {
  const bound = { HOST_SEARCH: "off", MODEL: "anthropic/claude-opus-5-5", SETTINGS: '{"thinking":true}' };
  await deploy(bound);
  const first = await turn("no-call", "hi", [[think("greet"), say("Hello.")]]);
  await deploy({ ...bound, LATE: "extra" });
  const second = await turn("no-call", "again", [[think("greet again"), say("Hello again.")]]);
  expect(second.prefix).toBe("break; cause=late_inline");
  expect(declared(second.requests[0]).inline).toEqual([...declared(first.requests[0]).inline, "extra"]);
  const third = await turn("no-call", "and now?", [
    [think("call"), call("extra")],
    [think("done"), say("Called.")],
  ]);
  await stage.workerd.fresh();
  const fourth = await turn("no-call", "once more", [call("extra"), say("Called.")]);
  expect(await verdicts(stage, "no-call")).toEqual([
    ...["first", "break; cause=late_inline"],
    ...["extends", "break; cause=late_inline"],
    ...["extends", "extends"],
  ]);
  expect(loadedAt(fourth.requests.at(-1))).toEqual(loadedAt(third.requests[1]));
  expect(declared(fourth.requests[0])).toEqual({ inline: declared(first.requests[0]).inline, deferred: ["extra"] });
  expectAllExtend([...third.requests.slice(1), ...fourth.requests]);
});

test("without host searches a tool that comes between turns rewrites the last call, and says so", async () => {
  await deploy({ HOST_SEARCH: "off", SETTINGS: '{"thinking":true}' });
  const first = await turn("between", "load", [
    [think("search"), search("weather")],
    [think("time"), call("clock", { text: "noon" }, "call_2")],
    [think("done"), say("Loaded.")],
  ]);
  await deploy({ HOST_SEARCH: "off", SETTINGS: '{"thinking":true}', LATE: "extra" });
  const second = await turn("between", "use it", [[think("use"), call("extra")], say("Used.")]);
  expect(second.prefix).toBe("break; cause=late_inline");
  expect(declared(second.requests[0])).toEqual({
    inline: declared(first.requests[0]).inline,
    deferred: ["weather", "extra"],
  });
  expect(loadedAt(second.requests[0]).extra).toMatch(/^hfl_/);
  expect(second.requests[0]?.bodyText).toContain("clock says noon");
  await stage.workerd.fresh();
  const third = await turn("between", "again", [call("extra"), say("Used.")]);
  expect(third.prefix).toBe("extends");
  expectAllExtend([...second.requests, ...third.requests]);
});

test("a deploy that changes descriptions, instructions, order and settings changes no byte that was sent", async () => {
  await deploy({ INSTRUCTIONS: "You are brief." });
  const first = await turn("frozen", "load", [[search("weather"), call("clock")], call("weather"), say("Loaded.")]);
  const changes = { INSTRUCTIONS: "You are verbose.", DESCRIPTIONS: " Now better.", ORDER: "reversed" };
  await deploy({ ...changes, SETTINGS: '{"effort":"low","maxOutputTokens":2000}' });
  const second = await turn("frozen", "again", [call("weather"), search("convert"), say("Again.")]);
  expect(second.prefix).toBe("extends");
  expectAllExtend([...first.requests, ...second.requests]);
  expect(system(second.requests[0])).toContain("You are brief.");
  expect(declared(second.requests.at(-1)).deferred).toEqual(["weather", "convert"]);
  const definitions: { name: string; description: string }[] = JSON.parse(second.requests.at(-1)?.bodyText ?? "").tools;
  // Only what is new to the session is as it is now.
  expect(definitions.flatMap(({ name, description }) => (description.includes("Now better") ? [name] : []))).toEqual([
    "convert",
  ]);

  const fresh = await turn("frozen-new", "hi", [say("Hello.")]);
  expect(fresh.requests[0]?.bodyText).toContain("You are verbose.");
  expect(declared(fresh.requests[0]).inline).toEqual([
    ...declared(first.requests[0]).inline.slice(0, -1).toReversed(),
    "tool_search",
  ]);
});

test("a raised revision withdraws the frozen instructions and descriptions, once", async () => {
  await deploy({ INSTRUCTIONS: "You are brief." });
  const first = await turn("revoked", "load", [search("weather"), call("weather"), say("Loaded.")]);
  await deploy({ REVISION: "2", INSTRUCTIONS: "You are kind.", DESCRIPTIONS: " Now better." });
  const second = await turn("revoked", "again", [call("weather"), search("convert"), say("Again.")]);
  expect(second.prefix).toBe("break; cause=revoked");
  expect(system(second.requests[0])).toContain("You are kind.");
  expect(second.requests[0]?.bodyText).not.toContain("You are brief.");
  const { tools }: { tools: { name: string; description: string }[] } = JSON.parse(second.requests[0]?.bodyText ?? "");
  for (const { name, description } of tools) {
    if (name !== "tool_search") expect(description).toContain("Now better");
  }
  expect(declared(second.requests[0])).toEqual({ inline: declared(first.requests[0]).inline, deferred: ["weather"] });
  expect(loadedAt(second.requests[0])).toEqual(loadedAt(first.requests.at(-1)));
  await stage.workerd.fresh();
  const third = await turn("revoked", "once more", [call("convert"), say("Converted.")]);
  expect(third.prefix).toBe("extends");
  expectAllExtend([...second.requests, ...third.requests]);
});

test("the first image of a session is told, starts no epoch, and the next is nothing new", async () => {
  await deploy();
  const first = await turn("images", "time?", [call("clock"), say("Noon.")]);
  const second = await turn("images", "draw", [call("picture"), call("picture", {}), say("Drawn.")]);
  await stage.workerd.fresh();
  const url =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const content = [
    { type: "text", text: "and this?" },
    { type: "image_url", image_url: { url } },
  ];
  const third = await turn("images", "", [say("A dot.")], { body: { messages: [{ role: "user", content }] } });
  const sent = await turn("images-sent", "", [say("A dot.")], { body: { messages: [{ role: "user", content }] } });
  const requests = [...first.requests, ...second.requests, ...third.requests];
  for (const [index, request] of requests.slice(1).entries()) {
    expect(whyNotExtends(requests[index]?.bodyText ?? "", request.bodyText)).toBeNull();
  }
  expect(await verdicts(stage, "images")).toEqual([
    ...["first", "extends"],
    ...["extends", "break; cause=images", "extends"],
    "extends",
  ]);
  const { calls }: { calls: { epoch: number }[] } = await stage.object("images", "calls", 0, 100);
  expect(new Set(calls.map(({ epoch }) => epoch)).size).toBe(1);
  expect(sent.prefix).toBe("first");
});
