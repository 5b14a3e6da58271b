import { afterAll, beforeAll, expect, test } from "vitest";
import { call, say } from "../emulators/anthropic/index.ts";
import { declared, deferrals, expectAllExtend, expectValid, type Stage, startStage } from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

const MIGRATION = "0002_tool_deferrals.sql";

/** The column of D1 as it stands for a conversation. */
async function column(conversation: string): Promise<string | null> {
  const query = "SELECT tool_deferrals AS value FROM sessions WHERE conversation = ?";
  const row = await (await stage.workerd.d1()).prepare(query).bind(conversation).first<{ value: string | null }>();
  if (row === null) throw new Error(`there is no record of ${conversation}`);
  return row.value;
}

test("a session whose record is older than the column has no baseline, records it at the next call and goes on", async () => {
  stage.model.script(call("tool_search", { query: "weather" }), call("weather"), say("Rain."));
  await stage.say("old", "weather?");
  stage.model.script(say("Never loaded anything."));
  await stage.say("older", "hi");
  await stage.object("old", "flushed");
  await stage.object("older", "flushed");
  const first = stage.takeRequests();

  // The database as migration 0001 left it, with both sessions in it; then the next migration comes.
  const db = await stage.workerd.d1();
  await db.batch([
    db.prepare("ALTER TABLE sessions DROP COLUMN tool_deferrals"),
    db.prepare("DELETE FROM d1_migrations WHERE name = ?").bind(MIGRATION),
  ]);
  await stage.workerd.wipeObjects({ LATE: "extra" });
  await stage.workerd.migrate((name) => name === MIGRATION);
  expect(await column("old")).toBeNull();

  stage.model.script(call("weather"), say("Still rain."), call("tool_search", { query: "convert" }), say("Loaded."));
  const again = await stage.say("old", "and now?");
  expect(again.text).toBe("Still rain.");
  expect(JSON.parse((await deferrals(stage, "old")).value)).toEqual({
    initial: [...declared(first[0]).inline.slice(0, -1), "extra", "tool_search", "weather"],
    loadPoints: {},
  });
  expect(again.headers.get("x-holdfast-prefix")).toMatch(/^break; /);
  await stage.workerd.fresh();
  expect((await stage.say("old", "one more")).headers.get("x-holdfast-prefix")).toBe("extends");
  const requests = stage.takeRequests();
  expectAllExtend(requests);
  expect(requests).toHaveLength(4);
  expect(declared(requests[0]).inline).toContain("weather");
  expect(declared(requests[3]).deferred).toEqual(["convert"]);

  stage.model.script(say("I still have nothing."));
  expect((await stage.say("older", "and you?")).text).toBe("I still have nothing.");
  const [request] = stage.takeRequests();
  if (request) expectValid(request);
  expect(declared(request).inline).toContain("extra");
});

test("malformed deferrals in the column are an error that names the session, never no baseline", async () => {
  const malformed = Object.entries({
    "not-json": "{",
    "no-object": "[]",
    "no-list": '{"initial":{"clock":1},"loadPoints":{}}',
    "no-names": '{"initial":["clock",1],"loadPoints":{}}',
    "no-points": '{"initial":["clock"]}',
    "empty-point": '{"initial":["clock"],"loadPoints":{"weather":""}}',
  });
  const db = await stage.workerd.d1();
  for (const [conversation, value] of malformed) {
    stage.model.script(say("Hello."));
    await stage.say(conversation, "hi");
    await stage.object(conversation, "flushed");
    const spoil = "UPDATE sessions SET tool_deferrals = ? WHERE conversation = ?";
    await db.prepare(spoil).bind(value, conversation).run();
  }
  await stage.workerd.wipeObjects();
  stage.takeRequests();

  for (const [conversation, value] of malformed) {
    const reply = await stage.say(conversation, "again");
    expect(reply.status).toBe(500);
    expect(reply.error?.message).not.toContain("clock");
    expect(await column(conversation)).toBe(value);
    const error = `tool deferrals of session ${JSON.stringify(["ann", "tester", conversation])} are malformed`;
    expect(stage.workerd.logs.join("\n")).toContain(JSON.stringify(error).slice(1, -1));
  }
  expect(stage.takeRequests()).toEqual([]);
});
