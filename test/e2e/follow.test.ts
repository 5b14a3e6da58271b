import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, createParking, parkAt, type RecordedRequest, say } from "../emulators/anthropic/index.ts";
import { type Stage, startStage } from "./chat.ts";
import { openStream } from "./turn-stream.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.model.reset());

test("a stream of a running turn in another isolate tells it from the beginning, and goes on after a reconnect", async () => {
  const parking = createParking<RecordedRequest>();
  stage.model.script(call("clock", { text: "tick" }), [say("It is "), say("late."), parkAt(5, parking)], say("unused"));
  const asked = stage.say("followed", "what time?");
  await parking.parked;
  const first = await openStream(stage, "followed");
  const seen = await first.until((event) => event.type === "text");
  first.leave();
  const second = await openStream(stage, "followed", first.lastId);
  parking.release();
  const rest = await second.all();
  const whole = [...seen, ...rest];
  expect(whole.map(({ type }) => type).filter((type) => type !== "text")).toEqual([
    "started",
    "request",
    "answering",
    "call",
    "result",
    "request",
    "answering",
    "done",
  ]);
  expect(whole.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")).toBe("It is late.");
  expect((await asked).text).toBe("It is late.");
  const after = await openStream(stage, "followed", second.lastId);
  expect(after.status).toBe(204);
});

test("following a turn writes no row, and a turn that is over is told from its entries", async () => {
  const rows = async (conversation: string, follows: boolean): Promise<number> => {
    stage.model.script(say("First."));
    await stage.say(conversation, "one");
    await stage.object(conversation, "flushed");
    await stage.object(conversation, "written");
    const parking = createParking<RecordedRequest>();
    stage.model.script([say("Now, "), say("listen."), parkAt(4, parking)]);
    const asked = stage.say(conversation, "two");
    await parking.parked;
    const stream = follows ? await openStream(stage, conversation) : null;
    await stream?.until((event) => event.type === "text");
    parking.release();
    await asked;
    expect((await stream?.all())?.at(-1)?.type ?? "done").toBe("done");
    await stage.object(conversation, "flushed");
    return stage.object(conversation, "written");
  };
  const alone = await rows("alone", false);
  expect(alone).toBeGreaterThan(0);
  expect(await rows("listened-to", true)).toBe(alone);
  await stage.workerd.fresh();
  const told = await (await openStream(stage, "listened-to")).all();
  expect(told.map(({ type }) => type)).toEqual(["started", "request", "answering", "text", "done"]);
});

test("there is nothing to follow in a session that is not there, and an id that we did not give is refused", async () => {
  expect((await openStream(stage, "nobody")).status).toBe(404);
  stage.model.script(say("Hello."));
  await stage.say("somebody", "hi");
  expect((await openStream(stage, "somebody", "not an id")).status).toBe(400);
  const other = await openStream(stage, "somebody", "turn_other:7");
  expect((await other.all())[0]).toEqual({ type: "withdrawn", step: 0 });
});
