import { afterAll, beforeAll, expect, test } from "vitest";
import { call, destroyAt, httpFailure, say, think } from "../emulators/anthropic/index.ts";
import { declared, expectAllExtend, loadedAt, type Stage, startStage } from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

/** The prefix verdict of the turn's first request. */
async function prefixOf(conversation: string, text: string): Promise<string | null> {
  return (await stage.say(conversation, text)).headers.get("x-holdfast-prefix");
}

test("a tool that comes between turns gets a host search behind the last answer, and nothing sent changes", async () => {
  await stage.workerd.fresh({ LATE: "" });
  stage.model.script([call("clock"), call("clock")], say("Twice."), say("And now?"), call("extra"), say("Done."));
  await stage.say("between", "the time, twice");
  await stage.workerd.fresh({ LATE: "extra" });
  expect(await prefixOf("between", "more")).toBe("extends");
  await stage.workerd.fresh();
  expect(await prefixOf("between", "use it")).toBe("extends");
  const requests = stage.takeRequests();
  expectAllExtend(requests);
  expect(declared(requests[2]).deferred).toEqual(["extra"]);
  expect(loadedAt(requests[2]).extra).toMatch(/^hfs_/);
  expect(loadedAt(requests.at(-1))).toEqual(loadedAt(requests[2]));
});

test("a tool that comes after a batch that failed entirely is loaded behind the batch, by a search of its own", async () => {
  await stage.workerd.fresh({ LATE: "" });
  stage.model.script([call("fail"), call("install", { nome: "x" })], say("Failed."));
  await stage.say("failed", "fail twice");
  const before = stage.takeRequests();
  await stage.workerd.fresh({ LATE: "extra" });
  // In mid-turn: the batch fails while the tool is there already but not yet in the session.
  stage.model.script([call("fail")], say("Failed again."));
  await stage.say("failed", "fail again");
  const requests = [...before, ...stage.takeRequests()];
  expectAllExtend(requests);
  expect(loadedAt(requests[2]).extra).toMatch(/^hfs_/);
});

test("a tool that comes between a lost request and its recovery does not change what may have been seen", async () => {
  await stage.workerd.fresh({ LATE: "" });
  stage.model.script(say("Hello."), destroyAt("headers"), destroyAt("headers"));
  await stage.say("lost", "hi");
  expect((await stage.say("lost", "are you there?")).status).toBeGreaterThanOrEqual(500);
  await stage.workerd.fresh({ LATE: "extra" });
  stage.model.script(say("Yes."), call("extra"), say("There."));
  expect((await stage.say("lost", "are you there?")).text).toBe("Yes.");
  await stage.say("lost", "good");
  const requests = stage.takeRequests();
  expectAllExtend(requests.filter(({ outcome }) => outcome === "answered"));
  const [, lost, , recovered] = requests;
  expect(recovered?.bodyText).toContain("are you there?");
  expectAllExtend([lost, recovered].flatMap((request) => request ?? []));
});

test("another message after a lost request follows it", async () => {
  await stage.workerd.fresh({ LATE: "" });
  stage.model.script(say("Hello."));
  stage.model.fail();
  await stage.say("another", "hi");
  stage.model.fail(httpFailure(500, "api_error", "broken"), httpFailure(500, "api_error", "broken"));
  expect((await stage.say("another", "lost words")).status).toBeGreaterThanOrEqual(500);
  await stage.workerd.fresh({ LATE: "extra" });
  stage.model.script(say("I am here."));
  expect((await stage.say("another", "and now?")).text).toBe("I am here.");
  const requests = stage.takeRequests();
  const lost = requests.find(({ status }) => status === 500);
  expectAllExtend(requests.filter(({ status }) => status === 200));
  expect(lost?.bodyText).toContain("lost words");
  expect(requests.at(-1)?.bodyText).toContain("lost words");
  expect(loadedAt(requests.at(-1)).extra).toMatch(/^hfs_/);
});

test("a tool that comes before any call was made is loaded by a host search", async () => {
  await stage.workerd.fresh({ LATE: "" });
  stage.model.script(say("Hello."), say("Still no call."));
  await stage.say("nocall", "hi");
  await stage.workerd.fresh({ LATE: "extra" });
  expect(await prefixOf("nocall", "again")).toBe("extends");
  const requests = stage.takeRequests();
  expectAllExtend(requests);
  expect(declared(requests[1]).deferred).toEqual(["extra"]);
});

test("an agent that had no tool at all starts with the search tool, and gets its first tool deferred", async () => {
  await stage.workerd.fresh({ LATE: "" });
  stage.model.script(say("I have nothing."), call("extra", { text: "x" }), say("I have something."));
  await stage.say("bare", "hi", { agent: "bare" });
  await stage.workerd.fresh({ LATE: "extra" });
  const reply = await stage.say("bare", "again", { agent: "bare" });
  expect(reply.text).toBe("I have something.");
  const requests = stage.takeRequests();
  expectAllExtend(requests);
  expect(declared(requests[0])).toEqual({ inline: ["tool_search"], deferred: [] });
  expect(declared(requests[1])).toEqual({ inline: ["tool_search"], deferred: ["extra"] });
});

test("a tool that goes away stays declared, answers with an error, and comes back with its load point", async () => {
  await stage.workerd.fresh({ LATE: "extra,other" });
  stage.model.script(say("Hello."));
  await stage.say("gone", "hi");
  await stage.workerd.fresh({ LATE: "extra,other,third" });
  stage.model.script(call("third"), say("Third."));
  await stage.say("gone", "third");
  await stage.workerd.fresh({ LATE: "", GONE: "clock" });
  stage.model.script([call("third"), call("extra"), call("clock")], say("All gone."));
  expect((await stage.say("gone", "try them")).text).toBe("All gone.");
  await stage.workerd.fresh({ LATE: "third,extra,other", GONE: "" });
  stage.model.script(call("third", { text: "back" }), say("Back."));
  await stage.say("gone", "once more");
  const requests = stage.takeRequests();
  expectAllExtend(requests);
  const last = requests.at(-1)?.bodyText ?? "";
  expect(last.match(/is no longer available/g)).toHaveLength(3);
  expect(last).toContain("third says back");
});

test("with bound thinking every request extends the last, across late tools, loads and fresh isolates", async () => {
  await stage.workerd.fresh({ LATE: "", MODEL: "anthropic/claude-opus-5-5", SETTINGS: '{"thinking":true}' });
  const steps = [
    [think("search"), call("tool_search", { query: "weather" })],
    [think("use"), say("Using it."), call("weather", { text: "rain" }), call("fail")],
    [think("done"), say("Rain.")],
  ];
  stage.model.script(...steps, [think("again"), call("extra")], [think("end"), say("End.")]);
  await stage.say("bound", "weather?");
  await stage.workerd.fresh({ LATE: "extra" });
  expect((await stage.say("bound", "extra?")).text).toBe("End.");
  const requests = stage.takeRequests();
  expect(requests).toHaveLength(5);
  expectAllExtend(requests);
});
