import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { call, callUnseen, destroyAt, httpFailure, say, think } from "../emulators/anthropic/index.ts";
import { declared, expectAllExtend, expectValid, type Stage, startStage, verdicts } from "./chat.ts";
import { type Hook, startHook } from "./hook.ts";

let hook: Hook;
let stage: Stage;
beforeAll(async () => {
  hook = await startHook();
  stage = await startStage({ HOOK: hook.url }, { entry: "test/e2e/modes-worker.ts" });
});
afterAll(async () => {
  await stage.close();
  await hook.close();
});
beforeEach(() => {
  stage.model.reset();
  stage.takeRequests();
});

const patch = (conversation: string, body: unknown, who: "ann" | "bob" = "ann") =>
  stage.send("PATCH", `/api/sessions/${conversation}`, who, typeof body === "string" ? body : JSON.stringify(body));

async function toMode(conversation: string, mode: string): Promise<void> {
  expect((await patch(conversation, { mode })).body).toMatchObject({ id: conversation, mode });
}

/** The blocks of `system` messages in a request, as `removal name` and `addition name`. */
function changes(bodyText: string): string[] {
  const body: { messages: { role: string; content: { type: string; tool: { name: string } }[] }[] } =
    JSON.parse(bodyText);
  return body.messages
    .filter(({ role }) => role === "system")
    .flatMap(({ content }) => content.map(({ type, tool }) => `${type.replace("tool_", "")} ${tool.name}`));
}

describe("on a model whose tools can change behind the prefix, with thinking bound to it", () => {
  beforeAll(() => stage.workerd.fresh({ MODEL: "anthropic/claude-opus-5-5", CAREFUL: "clock,weather" }));

  test("a mode withholds tools by a message behind the user's, gives them back likewise, and breaks nothing", async () => {
    stage.model.script(
      [think("a"), call("tool_search", { query: "erase" })],
      [think("b"), call("erase")],
      say("Erased."),
    );
    await stage.say("bound", "erase it");
    await toMode("bound", "careful");
    stage.model.script([think("c"), callUnseen("erase"), call("weather")], [think("d"), say("Only weather.")]);
    expect((await stage.say("bound", "again")).text).toBe("Only weather.");
    await stage.workerd.fresh();
    stage.model.script([think("e"), say("Hm.")]);
    await stage.say("bound", "and now?");
    await toMode("bound", "agent");
    stage.model.script([think("f"), call("erase"), call("weather")], say("Erased again."));
    expect((await stage.say("bound", "now erase")).text).toBe("Erased again.");

    const requests = stage.takeRequests();
    expectAllExtend(requests);
    expect((await verdicts(stage, "bound")).slice(1).every((verdict) => verdict === "extends")).toBe(true);
    const withheld = ["write_file", "ask_city", "wait", "enter_plan_mode", "erase"].map((name) => `removal ${name}`);
    const back = withheld.map((change) => change.replace("removal", "addition"));
    expect(requests.map(({ bodyText }) => changes(bodyText).length)).toEqual([0, 0, 0, 5, 5, 5, 10, 10]);
    expect(changes(requests.at(-1)?.bodyText ?? "").toSorted()).toEqual([...withheld, ...back].toSorted());
    expect(requests[3]?.headers["anthropic-beta"]).toContain("mid-conversation-tool-changes");
    expect(requests[2]?.headers["anthropic-beta"]).toBeUndefined();
    const { body } = await stage.get("/api/sessions/bound/entries");
    const all = body.entries.flatMap((entry: { results?: object[] }) => entry.results ?? []);
    expect(all.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`)).toEqual([
      ...["tool_search ok", "erase ok", "erase denied", "weather ok", "erase ok", "weather ok"],
    ]);
  });

  test.each([
    ["refused before it answered", [httpFailure(400, "invalid_request_error", "No.")]],
    ["cut before it said anything", [think("x"), destroyAt(2)]],
  ])("a request that told of the mode and was %s leaves a history that goes on", async (what, failure) => {
    const id = `lost-${what.length}`;
    stage.model.script([think("a"), say("Hello.")]);
    await stage.say(id, "hi");
    await toMode(id, "careful");
    stage.model.script(failure);
    await stage.say(id, "in vain");
    stage.model.script([think("b"), call("clock")], [think("c"), say("Noon.")]);
    expect((await stage.say(id, "what time?")).text).toBe("Noon.");
    const requests = stage.takeRequests();
    expectValid(requests.at(-1) as never);
    expect(requests.at(-1)?.bodyText.match(/tool_removal/g)).toHaveLength(4);
    expect((await verdicts(stage, id)).at(-1)).toBe("extends");
  });
});

describe("on a model that can only do without a tool by not being sent it", () => {
  beforeEach(() => stage.workerd.fresh({ MODEL: "anthropic/claude-sonnet-5", CAREFUL: "clock,weather" }));

  test("a mode is a chain of its own, and coming back resumes the earlier one, bytes and thinking", async () => {
    stage.model.script(
      [think("a"), call("tool_search", { query: "erase" })],
      [think("b"), call("erase")],
      say("Erased."),
    );
    await stage.say("absent", "erase it");
    await toMode("absent", "careful");
    stage.model.script([think("c"), callUnseen("erase"), call("weather")], [think("d"), say("Only weather.")]);
    expect((await stage.say("absent", "again")).text).toBe("Only weather.");
    const before = stage.takeRequests();
    await stage.workerd.fresh();
    await toMode("absent", "agent");
    stage.model.script([think("e"), call("weather"), call("erase")], say("Both."));
    const back = await stage.say("absent", "both");
    expect([back.text, back.headers.get("x-holdfast-prefix")]).toEqual(["Both.", "extends"]);
    const after = stage.takeRequests();
    expect(await verdicts(stage, "absent")).toEqual([
      ...["first", "extends", "extends", "break; cause=mode", "extends", "extends", "extends"],
    ]);
    expectAllExtend([...before.slice(0, 3), ...after]);
    expectAllExtend(before.slice(3));
    expect(declared(before[3])).toEqual({ inline: ["clock", "tool_search"], deferred: ["weather"] });
    expect(declared(after[0]).deferred).toEqual(["erase", "weather"]);
    expect(after[0]?.bodyText).toContain('"thinking":"a"');
    expect(after[0]?.bodyText).not.toContain('"thinking":"c"');
  });

  test("what a deploy lets a mode do is there from the next turn on", async () => {
    stage.model.script(call("tool_search", { query: "erase" }), say("Loaded."));
    await stage.say("widened", "hi");
    await toMode("widened", "careful");
    stage.model.script(callUnseen("erase"), say("No."));
    await stage.say("widened", "erase");
    await stage.workerd.fresh({ CAREFUL: "clock,weather,erase" });
    stage.model.script(call("erase"), say("Erased."));
    expect((await stage.say("widened", "erase now")).text).toBe("Erased.");
    for (const request of stage.takeRequests()) expectValid(request);
    expect((await verdicts(stage, "widened")).some((verdict) => verdict.includes("unexpected"))).toBe(false);
  });
});

describe("PATCH", () => {
  beforeAll(() => stage.workerd.fresh({ MODEL: "anthropic/claude-opus-5-5", CAREFUL: "clock,weather" }));

  test("changes mode and title, in the list too, and the same mode again is no change", async () => {
    stage.model.script(say("Hello."));
    await stage.say("named", "hi");
    const changed = await patch("named", { mode: "plan", title: " My plans " });
    expect(changed.body).toMatchObject({ id: "named", mode: "plan", title: "My plans", entries: 3, status: "done" });
    expect((await patch("named", { mode: "plan" })).body).toEqual(changed.body);
    await vi.waitFor(async () => {
      const { body } = await stage.get("/api/sessions");
      const listed = body.sessions.find(({ id }: { id: string }) => id === "named");
      expect(listed).toMatchObject({ mode: "plan", title: "My plans" });
    });
    await stage.object("named", "flushed");
    await stage.workerd.wipeObjects();
    expect((await stage.get("/api/sessions/named")).body).toMatchObject({ mode: "plan", title: "My plans" });
    const { body } = await stage.get("/api/sessions/named/entries");
    expect(body.entries.at(-1)).toMatchObject({ kind: "mode_change", mode: "plan", origin: "client" });
  });

  test("is refused for the mode while a turn runs, and not for the title", async () => {
    stage.model.script(call("wait"), say("Waited."));
    const turn = stage.say("running", "wait");
    const waiting = await hook.next();
    const refused = await patch("running", { mode: "plan" });
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([409, "false"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await patch("running", { title: "Waiting" })).body).toMatchObject({ title: "Waiting", mode: "agent" });
    waiting.answer("over");
    expect((await turn).text).toBe("Waited.");
    await toMode("running", "plan");
  });

  test("says what is wrong, and stores nothing", async () => {
    stage.model.script(say("Hello."));
    await stage.say("wrong", "hi");
    const before = (await stage.get("/api/sessions/wrong")).body;
    const bad: [unknown, string | null][] = [
      [{}, null],
      [[], null],
      ["{", null],
      [{ mode: "nowhere" }, "mode"],
      [{ mode: "__proto__" }, "mode"],
      [{ mode: 1 }, "mode"],
      [{ title: "" }, "title"],
      [{ title: "x".repeat(201) }, "title"],
      [{ mode: "plan", more: 1 }, null],
    ];
    for (const [body, param] of bad) {
      const { status, error } = await patch("wrong", body);
      expect([status, (error as { param?: unknown } | null)?.param], JSON.stringify(body).slice(0, 40)).toEqual([
        400,
        param,
      ]);
    }
    expect((await patch("wrong", { mode: "nowhere" })).error?.message).toContain("agent, careful, plan");
    expect((await stage.get("/api/sessions/wrong")).body).toEqual(before);
    expect((await patch("unknown", { mode: "plan" })).status).toBe(404);
    expect((await patch("wrong", { mode: "plan" }, "bob")).status).toBe(404);
  });
});
