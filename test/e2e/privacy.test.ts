import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { defineAgent, holdfast } from "../../src/index.ts";
import { call, say } from "../emulators/anthropic/index.ts";
import { expectAllExtend, KEYS, loadedAt, type Stage, startStage, type Who } from "./chat.ts";

// So that an app can be composed here, in Node, too.
vi.mock("cloudflare:workers", () => ({ env: {}, DurableObject: class {}, WorkerEntrypoint: class {} }));

const ID = "private-1";

let stage: Stage;
const routes = allRoutes();
beforeAll(async () => {
  stage = await startStage();
  // Loads by search, a load beside a tool's own words (a companion), and a host search.
  stage.model.script(
    [call("tool_search", { query: "weather" }, "call_search")],
    [call("weather", { text: "rain" }), call("install", { name: "mcp_hello" }, "call_install")],
    say("Rain."),
  );
  await stage.say(ID, "weather?");
  await stage.workerd.fresh({ LATE: "mcp_hello,late" });
  stage.model.script([call("mcp_hello", {}, "call_hello"), call("late")], say("Hello."));
  await stage.say(ID, "hello?");
  const requests = stage.takeRequests();
  expectAllExtend(requests);
  const loaded = loadedAt(requests.at(-1));
  expect(loaded.weather).toBe("call_search");
  expect(loaded.mcp_hello).toMatch(/^hfl_/);
  expect(loaded.late).toMatch(/^hfs_/);
  // The list is D1's, which is written behind the answer.
  await vi.waitFor(async () => expect((await stage.get("/api/sessions")).body.sessions).toHaveLength(1));
});
afterAll(() => stage.close());

interface Route {
  readonly method: string;
  readonly path: string;
}

/** Every route of a composed app: a new surface is in it without being named here. */
function allRoutes(): Route[] {
  const tester = defineAgent({ name: "tester", description: "An agent for tests.", model: "demo/scripted" });
  const { app } = holdfast({ agents: [tester] });
  const all = app.routes.filter(({ method, path }) => method !== "ALL" && !path.includes("*"));
  const unique = new Map(all.map(({ method, path }) => [`${method} ${path}`, { method, path }]));
  expect([...unique.keys()]).toEqual(
    expect.arrayContaining(["GET /api/sessions/:id/entries", "GET /agents/:name/api/sessions", "GET /healthz"]),
  );
  return [...unique.values()];
}

/** The path with its parameters filled in. A parameter that this does not know is a test to be written. */
function filled(path: string, id = ID): string {
  const values: Record<string, string> = {
    id,
    name: "tester",
    model: "tester",
    pauseId: "pause-1",
    task: "task-1",
    config: "config-1",
  };
  return path.replace(/(?<=\/):([A-Za-z]+)(\{[^}]*\})?/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for :${name} in ${path}`);
    return value;
  });
}

const TRACES = /"initial"|load_?point|tool_?deferral|\bhf[ls]_|defer_loading|tool_reference/i;

test("no GET route shows a trace of the deferrals, in its body or its headers", async () => {
  const gets = routes.filter(({ method }) => method === "GET");
  const shown = new Map<string, string>();
  for (const { path } of gets) {
    const url = filled(path);
    for (const query of ["", "?limit=1", "?limit=500&after=0"]) {
      const { status, headers, body } = await stage.get(url + query);
      const all = JSON.stringify([[...headers], body]);
      expect(all, `${url}${query}`).not.toMatch(TRACES);
      if (status === 200) shown.set(path, all);
    }
  }
  // It did look at something: the session is there, with what it loaded.
  expect(shown.get("/api/sessions/:id/entries")).toContain("mcp_hello says nothing");
  expect(shown.get("/api/sessions")).toContain(ID);
  expect(shown.get("/agents/:name/api/sessions/:id")).toContain("weather?");
});

test("neither a whole answer nor a stream shows a trace of them", async () => {
  for (const stream of [false, true]) {
    await stage.workerd.fresh({ LATE: `mcp_hello,late,later_${stream}` });
    stage.model.script([say("Again."), call(`later_${stream}`), call("tool_search", { query: "tides" })], say("Done."));
    const reply = await stage.say(ID, "again", {
      body: { stream, stream_options: stream ? { include_usage: true } : null },
    });
    expect(JSON.stringify([[...reply.headers], reply.body])).not.toMatch(TRACES);
    expect(JSON.stringify(reply.body)).toContain("by the runtime");
  }
  stage.takeRequests();
});

test("each route that takes an id finds nothing under another owner's key, and does nothing", async () => {
  const withId = routes.filter(({ path }) => path.includes(":id"));
  expect(withId.length).toBeGreaterThanOrEqual(8);
  for (const { method, path } of withId) {
    const reply = await stage.send(method, filled(path), "bob", method === "GET" ? undefined : "{}");
    expect([method, path, reply.status]).toEqual([method, path, 404]);
    expect(JSON.stringify(reply.body)).not.toContain("weather");
  }
  expect((await stage.get(`/api/sessions/${ID}`)).status).toBe(200);
  expect((await stage.get("/api/sessions", "bob")).body).toEqual({ sessions: [] });
});

test("who posts under another owner's conversation id gets an own, empty session", async () => {
  const before = (await stage.get(`/api/sessions/${ID}/entries`)).body;
  stage.model.script(say("Whose?"));
  const reply = await stage.say(ID, "what did we say?", { who: "bob" });
  expect([reply.text, reply.headers.get("x-holdfast-prefix")]).toEqual(["Whose?", "first"]);
  const [request] = stage.takeRequests();
  expect(request?.bodyText).not.toContain("weather?");
  expect(request?.bodyText).toContain("You help bob.");
  expect((await stage.get(`/api/sessions/${ID}`, "bob")).body).toMatchObject({ entries: 2, title: "what did we say?" });
  expect((await stage.get(`/api/sessions/${ID}/entries`)).body).toEqual(before);
  // Deleting it leaves the other one alone.
  expect((await stage.send("DELETE", `/api/sessions/${ID}`, "bob")).status).toBe(200);
  expect((await stage.get(`/api/sessions/${ID}`)).status).toBe(200);
  await vi.waitFor(async () => expect((await stage.get("/api/sessions", "bob")).body).toEqual({ sessions: [] }));
});

test("no route answers without a key, save the ones that say nothing of anybody", async () => {
  // A card says what an agent is for: whoever may call it looks there first.
  const cards = ["/.well-known/agent-card.json", "/.well-known/agent.json"];
  const open = ["/healthz", ...cards, ...cards.map((card) => `/agents/:name${card}`)];
  for (const { method, path } of routes.filter((route) => !open.includes(route.path))) {
    const response = await stage.workerd.fetch(filled(path), { method });
    expect([method, path, response.status]).toEqual([method, path, 401]);
    await response.body?.cancel();
  }
  const keys: Who[] = ["ann", "bob"];
  for (const path of open) {
    const text = await (await stage.workerd.fetch(filled(path))).text();
    for (const who of keys) expect(text).not.toContain(KEYS[who]);
  }
});
