import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createParking, httpFailure, parkAt, type RecordedRequest, say } from "../emulators/anthropic/index.ts";
import { type Stage, startStage } from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({}, { clones: 1 });
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.model.reset();
  stage.takeRequests();
});

const key = (value: string) => ({ "idempotency-key": value });
const again = { "x-stainless-retry-count": "1" };
const turns = async (conversation: string) => {
  const { body } = await stage.get(`/api/sessions/${conversation}/entries`);
  return new Set(body.entries.map(({ turn }: { turn: string }) => turn)).size;
};

describe("a request that comes again with its Idempotency-Key", () => {
  test("while its turn runs in another isolate joins that turn, and gets the same answer", async () => {
    const parking = createParking<RecordedRequest>();
    stage.model.script([say("The only "), say("answer."), parkAt(4, parking)]);
    const first = stage.say("keyed", "hi", { headers: key("k1") });
    await parking.parked;
    const second = stage.say("keyed", "hi", { headers: key("k1"), isolate: 1 });
    const streamed = stage.say("keyed", "hi", { headers: key("k1"), isolate: 1, body: { stream: true } });
    expect((await streamed).status).toBe(422);
    parking.release();
    expect((await first).text).toBe((await second).text);
    expect((await second).text).toContain("answer.");
    expect(stage.takeRequests()).toHaveLength(1);
    expect(await turns("keyed")).toBe(1);
  });

  test("after its turn, and after others, is told that turn's answer", async () => {
    stage.model.script(say("One."), say("Two."));
    await stage.say("later", "one", { headers: key("first") });
    await stage.say("later", "two", { headers: key("second") });
    const repeat = await stage.say("later", "one", { headers: key("first"), isolate: 1 });
    expect(repeat.text).toBe("One.");
    expect(repeat.body.usage.completion_tokens).toBeGreaterThan(0);
    expect(stage.takeRequests()).toHaveLength(2);
    expect(await turns("later")).toBe(2);
  });

  test("with another body is refused, and stores nothing", async () => {
    stage.model.script(say("One."));
    await stage.say("reused", "one", { headers: key("k") });
    const other = await stage.say("reused", "two", { headers: key("k") });
    expect(other.status).toBe(422);
    expect(other.error?.code).toBe("idempotency_key_reused");
    expect(await turns("reused")).toBe(1);
    expect(stage.takeRequests()).toHaveLength(1);
  });

  test("without a conversation id gets to the same session, and another key to another", async () => {
    stage.model.script(say("One."), say("Two."));
    const first = await stage.say(null, "hello", { headers: key("no-id") });
    const repeat = await stage.say(null, "hello", { headers: key("no-id"), isolate: 1 });
    expect(repeat.headers.get("x-conversation-id")).toBe(first.headers.get("x-conversation-id"));
    expect(repeat.text).toBe("One.");
    const other = await stage.say(null, "hello", { headers: key("other-id") });
    expect(other.headers.get("x-conversation-id")).not.toBe(first.headers.get("x-conversation-id"));
    expect(other.text).toBe("Two.");
  });

  test("of another owner is another request", async () => {
    stage.model.script(say("For Ann."), say("For Bob."));
    expect((await stage.say(null, "hello", { headers: key("shared") })).text).toBe("For Ann.");
    expect((await stage.say(null, "hello", { headers: key("shared"), who: "bob" })).text).toBe("For Bob.");
  });

  test("after its turn failed runs anew, in the same session", async () => {
    stage.model.script(httpFailure(500, "api_error", "Broken.", { "x-should-retry": "false" }), say("Better."));
    expect((await stage.say("failed", "hi", { headers: key("k") })).status).toBe(502);
    expect((await stage.say("failed", "hi", { headers: key("k") })).text).toBe("Better.");
    expect((await stage.say("failed", "hi", { headers: key("k") })).text).toBe("Better.");
    expect(stage.takeRequests()).toHaveLength(2);
  });

  test("is refused where the key is none", async () => {
    const refused = await stage.say("none", "hi", { headers: key("x".repeat(256)) });
    expect(refused.status).toBe(400);
    expect(refused.error?.message).toContain("Idempotency-Key");
  });
});

describe("a request that an SDK sends again", () => {
  test("joins the turn that its first try began", async () => {
    stage.model.script(say("Once."));
    expect((await stage.say("sdk", "hi")).text).toBe("Once.");
    expect((await stage.say("sdk", "hi", { headers: again, isolate: 1 })).text).toBe("Once.");
    expect(stage.takeRequests()).toHaveLength(1);
    expect(await turns("sdk")).toBe(1);
  });

  test("runs the turn anew that was stopped because its first try was gone, and joins one that somebody stopped", async () => {
    const parking = createParking<RecordedRequest>();
    const parked = [say("The only "), say("answer."), parkAt(4, parking)];
    const gone = new AbortController();
    const streamed = { body: { stream: true } };
    const stopped = async (id: string) =>
      vi.waitFor(async () => expect((await stage.get(`/api/sessions/${id}`)).body.status).toBe("stopped"), 10_000);

    stage.model.script(parked, say("Anew."));
    const first = stage.say("gone", "hi", { ...streamed, signal: gone.signal }).catch(() => null);
    await parking.parked;
    gone.abort();
    await first;
    await stopped("gone");
    await stage.say("gone", "hi", { ...streamed, headers: again });
    const { entries } = (await stage.get("/api/sessions/gone/entries")).body;
    expect(entries.filter(({ kind }: { kind: string }) => kind === "user")).toHaveLength(1);
    expect(entries.at(-1)).toMatchObject({ kind: "assistant", stop: "end", content: [{ text: "Anew." }] });

    const other = createParking<RecordedRequest>();
    stage.model.script([say("Some of "), say("it."), parkAt(4, other)]);
    const second = stage.say("wished", "hi");
    await other.parked;
    await stage.send("POST", "/api/sessions/wished/stop");
    const text = (await second).text;
    expect((await stage.say("wished", "hi", { headers: again })).text).toBe(text);
    expect(stage.takeRequests()).toHaveLength(3);
  });

  test("makes no second session where it brings no conversation id", async () => {
    stage.model.script(say("Once."), say("Another."));
    const first = await stage.say(null, "a first message");
    const db = await stage.workerd.d1();
    await vi.waitFor(async () => expect(await db.prepare("SELECT 1 FROM requests").first()).not.toBeNull());
    const repeat = await stage.say(null, "a first message", { headers: again });
    expect(repeat.headers.get("x-conversation-id")).toBe(first.headers.get("x-conversation-id"));
    expect(repeat.text).toBe("Once.");
    const same = await stage.say(null, "a first message");
    expect(same.text).toBe("Another.");
  });

  test("is a message of its own where another body came since", async () => {
    stage.model.script(say("One."), say("Two."), say("Three."));
    await stage.say("since", "one");
    await stage.say("since", "two");
    expect((await stage.say("since", "one", { headers: again })).text).toBe("Three.");
  });
});
