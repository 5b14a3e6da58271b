import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import { call, httpFailure, overloaded, say, think } from "../emulators/anthropic/index.ts";
import { expectValid, type Stage, startStage } from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  stage.model.reset();
  await stage.workerd.fresh({ MODEL: "anthropic/claude-sonnet-5", SETTINGS: "{}", REVISION: "1", LATE: "" });
});

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });
const refused = httpFailure(400, "invalid_request_error", "Unable to download the file.");
const picture = { type: "image_url", image_url: { url: "https://example.com/gone.png" } };

const last = () => stage.model.requests.at(-1)?.bodyText ?? "";

/** Says something behind a history and gives the verdict on the turn's first request. */
async function prefix(conversation: string, text: string, history: object[] = [], system?: string) {
  const all = system === undefined ? history : [{ role: "system", content: system }, ...history];
  const reply = await stage.say(conversation, text, { history: all });
  expect(reply.error).toBeNull();
  return reply.headers.get("x-holdfast-prefix");
}

test("an image that the provider refuses is taken back when another message comes, and stays visible", async () => {
  stage.model.script(say("Hello."), refused, say("Never mind, then."));
  await stage.say("image", "hi");
  const reply = await stage.say("image", "", {
    body: { messages: [user([{ type: "text", text: "what is this?" }, picture])] },
  });
  expect(reply.error?.message).toContain("Unable to download the file.");
  expect((await stage.say("image", "never mind")).text).toBe("Never mind, then.");
  expect(last()).not.toContain("gone.png");
  expectValid(stage.model.requests.at(-1) as never);
  const { body } = await stage.get("/api/sessions/image/entries");
  expect(JSON.stringify(body.entries)).toContain("gone.png");
});

test("a tool's picture that the provider refuses is taken back with its step, and the same message is answered anew", async () => {
  stage.model.script(call("picture"), refused, say("I can't draw."));
  expect((await stage.say("drawing", "draw a dot")).status).toBe(502);
  expect((await stage.say("drawing", "draw a dot")).text).toBe("I can't draw.");
  expect(last()).toContain("draw a dot");
  expect(last()).not.toContain("image/png");
});

test("a refusal that is not the content's fault takes nothing back", async () => {
  stage.model.script(httpFailure(400, "invalid_request_error", "messages: no."), say("Both."));
  await stage.say("words", "first words");
  await stage.say("words", "second words");
  expect(last()).toContain("first words");
});

test("an overload, and then the same message under another system text: told anew, and never unexpected", async () => {
  stage.model.script(say("Hello."), say("Anew."));
  await prefix("overload", "hi", [], "It is Monday.");
  stage.model.fail(overloaded(false));
  const history = [user("hi"), assistant("Hello.")];
  await stage.say("overload", "and now?", { history: [{ role: "system", content: "It is Monday." }, ...history] });
  expect(await prefix("overload", "and now?", history, "It is Tuesday.")).toBe("extends");
  expect(last()).toContain("It is Tuesday.");
});

test("a system text whose update an edit takes back is said again", async () => {
  stage.model.script(say("One."), say("Two."), say("Two again."));
  await prefix("system", "one", [], "SYSTEM A");
  await prefix("system", "two", [user("one"), assistant("One.")], "SYSTEM B");
  await prefix("system", "one, edited", [], "SYSTEM B");
  expect(last()).toContain("one, edited");
  expect(last()).toContain("SYSTEM B");
});

test("a revision that is raised while the client regenerates withdraws the prompt, on a bound model too", async () => {
  await stage.workerd.fresh({
    MODEL: "anthropic/claude-opus-5-5",
    SETTINGS: '{"thinking":true}',
    INSTRUCTIONS: "OLD PROMPT",
  });
  stage.model.script(
    [think("a"), say("One.")],
    [think("b"), say("Two.")],
    [think("c"), say("Two, anew.")],
    [think("d"), say("Three.")],
  );
  await prefix("revised", "one");
  const history = [user("one"), assistant("One.")];
  await prefix("revised", "two", history);
  await stage.workerd.fresh({ REVISION: "2", INSTRUCTIONS: "NEW PROMPT" });
  expect(await prefix("revised", "two", history)).toBe("break; cause=revoked");
  expect(last()).not.toContain("OLD PROMPT");
  expect(await prefix("revised", "three", [...history, user("two"), assistant("Two, anew.")])).toBe("extends");
  for (const request of stage.model.requests) expectValid(request);
});

test("a revision that comes with another model withdraws the prompt there as well", async () => {
  await stage.workerd.fresh({ INSTRUCTIONS: "OLD PROMPT" });
  stage.model.script(say("One."), say("Two."));
  await prefix("moved", "one");
  await stage.workerd.fresh({ REVISION: "2", INSTRUCTIONS: "NEW PROMPT", MODEL: "anthropic/claude-opus-4-8" });
  expect(await prefix("moved", "two")).toBe("break; cause=model");
  expect(last()).toContain("NEW PROMPT");
  expect(last()).not.toContain("OLD PROMPT");
});

test("going back to a model after a turn on another provider's extends what that model saw", async () => {
  stage.model.script(say("One."), say("Three."));
  await prefix("back", "one");
  await stage.workerd.fresh({ MODEL: "demo/scripted" });
  expect(await prefix("back", "two")).toBe("break; cause=model");
  await stage.workerd.fresh({ MODEL: "anthropic/claude-sonnet-5" });
  expect(await prefix("back", "three")).toBe("extends");
  const [first, second] = stage.model.requests;
  expect(whyNotExtends(first?.bodyText ?? "", second?.bodyText ?? "")).toBeNull();
});
