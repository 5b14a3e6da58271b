import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { call, say } from "../emulators/anthropic/index.ts";
import { expectValid, type Stage, startStage } from "./chat.ts";
import { type Hook, startHook } from "./hook.ts";

let hook: Hook;
let stage: Stage;
beforeAll(async () => {
  hook = await startHook();
  stage = await startStage({ HOOK: hook.url });
});
afterAll(async () => {
  await stage.close();
  await hook.close();
});

/** What D1 has of a conversation: its record, and the rows of all tables. */
async function recorded(conversation: string) {
  const db = await stage.workerd.d1();
  const session = JSON.stringify(["ann", "tester", conversation]);
  const record = await db.prepare("SELECT * FROM sessions WHERE id = ?").bind(session).first();
  const tables = ["entries", "epochs", "frozen", "items", "calls", "texts", "endings", "blobs"];
  const counts = await db.batch<{ n: number }>(
    tables.map((table) => db.prepare(`SELECT count(*) AS n FROM ${table} WHERE session = ?`).bind(session)),
  );
  return { record, rows: counts.reduce((sum, { results }) => sum + (results[0]?.n ?? 0), 0) };
}

test("a conversation that is deleted while a tool runs: the tool is aborted, and nothing of the turn is kept", async () => {
  stage.model.script(say("Hello."));
  await stage.say("running", "hello");
  stage.model.script([say("Waiting."), call("wait", {})]);
  const asked = stage.say("running", "wait for it");
  const waiting = await hook.next();
  stage.takeRequests();
  expect((await stage.send("DELETE", "/api/sessions/running")).body).toEqual({ id: "running", deleted: true });
  expect(await waiting.over).toBe("left");
  expect((await asked).status).toBe(503);
  expect(stage.takeRequests()).toEqual([]);

  for (const fresh of [false, true]) {
    if (fresh) await stage.workerd.fresh();
    expect(await stage.object("running", "query", "SELECT name FROM sqlite_master WHERE name = 'session'")).toEqual([]);
    expect(await recorded("running")).toMatchObject({
      record: { title: "", state: "{}", tool_deferrals: null },
      rows: 0,
    });
    expect((await stage.say("running", "hello?")).status).toBe(410);
    for (const path of ["", "/entries", "/ledger", "/export"]) {
      expect((await stage.get(`/api/sessions/running${path}`)).status).toBe(404);
    }
    for (const path of ["/clone", "/fork", "/stop"]) {
      const reply = await stage.send("POST", `/api/sessions/running${path}`, "ann", '{"at":0}');
      expect(reply.status).toBe(404);
    }
    expect((await stage.send("DELETE", "/api/sessions/running")).status).toBe(404);
  }
});

test("forks are no part of what they were made of: each is deleted alone, and goes on without the other", async () => {
  stage.model.script(call("tool_search", { query: "weather" }), say("Found."), say("And on."));
  await stage.say("parent", "find it");
  await stage.say("parent", "and on");
  stage.takeRequests();
  const forked = await stage.send("POST", "/api/sessions/parent/fork", "ann", '{"at":1}');
  const cloned = await stage.send("POST", "/api/sessions/parent/clone");
  expect((await stage.send("DELETE", "/api/sessions/parent")).status).toBe(200);
  expect((await stage.send("DELETE", `/api/sessions/${cloned.body.id}`)).status).toBe(200);
  await vi.waitFor(async () => expect((await recorded("parent")).rows).toBe(0));
  stage.model.script(call("weather", {}), say("Rain."));
  expect((await stage.say(forked.body.id, "use it")).text).toBe("Rain.");
  for (const request of stage.takeRequests()) expectValid(request);
  expect((await stage.get(`/api/sessions/${forked.body.id}`)).body).toMatchObject({
    forkedFrom: { id: "parent", at: 1 },
    title: "find it (fork 1)",
  });
});
