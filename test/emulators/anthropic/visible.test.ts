import { expect, test } from "vitest";
import { call, callUnseen, say, search } from "./index.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: () => say("ok") });
const tools = [
  s.tool("look"),
  s.tool("one", { defer_loading: true }),
  s.tool("two", { defer_loading: true }),
  { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
];
const loaded = [s.user("a"), s.assistant(s.use("toolu_1", "look")), s.user(s.result("toolu_1", [s.reference("one")]))];

async function visible(...messages: s.Body[]) {
  const response = await s.post(emulator(), s.request({ tools, messages }));
  expect(response.status).toBe(200);
  return emulator().requests.at(-1)?.visible;
}

const initial = ["look", "tool_search_tool_bm25"];

test("Deferred tools are not visible", async () => {
  expect(await visible(s.user("a"))).toEqual(initial);
});

test("A reference in a result makes a tool visible, and it stays so", async () => {
  expect(await visible(...loaded)).toEqual([...initial, "one"]);
  expect(await visible(...loaded, s.assistant("b"), s.user("c"))).toEqual([...initial, "one"]);
});

test("A search by the server makes visible what it found", async () => {
  const found = [
    { type: "server_tool_use", id: "srvtoolu_1", name: "tool_search_tool_bm25", input: { query: "x" } },
    {
      type: "tool_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: { type: "tool_search_tool_search_result", tool_references: [s.reference("two")] },
    },
  ];
  expect(await visible(s.user("a"), s.assistant(...found, "b"), s.user("c"))).toEqual([...initial, "two"]);
});

test("An addition adds, a removal takes away", async () => {
  expect(await visible(...loaded, s.system(s.addition("two"), s.removal("look"), s.removal("one")))).toEqual([
    "tool_search_tool_bm25",
    "two",
  ]);
});

test("A compaction starts again from its own tool changes", async () => {
  const compaction = { type: "compaction", content: "So far.", tool_changes: [s.addition("two")] };
  expect(await visible(...loaded, s.assistant(compaction, "b"), s.user("c"))).toEqual([...initial, "two"]);
});

test("A compaction that failed changes nothing", async () => {
  const failed = { type: "compaction", content: null };
  expect(await visible(...loaded, s.assistant(failed, "b"), s.user("c"))).toEqual([...initial, "one"]);
});

test("A script that calls what is not visible is a problem, and the client is told not to try again (E-A33)", async () => {
  emulator().script(call("one"));
  const response = await s.post(emulator(), s.request({ tools }));
  const text = "The script calls 'one', which this request does not make visible. Visible: look, tool_search_tool_bm25";
  expect(await response.json()).toMatchObject({
    error: { type: "api_error", message: `The emulator's script failed: ${text}` },
  });
  expect([response.status, response.headers.get("x-should-retry")]).toEqual([500, "false"]);
  expect(emulator().takeProblems()).toEqual([new Error(text)]);
});

test("A problem that nobody took is thrown by reset", async () => {
  emulator().script(call("one"));
  await s.post(emulator(), s.request({ tools }));
  expect(() => emulator().reset()).toThrow("which this request does not make visible");
});

test("A script that finds what was not declared is a problem", async () => {
  emulator().script([search("x", ["three"]), say("b")]);
  expect((await s.post(emulator(), s.request({ tools }))).status).toBe(500);
  expect(emulator().takeProblems()[0]?.message).toMatch("finds 'three'");
});

test("A request for which no answer is left is a problem", async () => {
  emulator().answer(() => {
    throw new Error("nothing to say");
  });
  expect((await s.post(emulator(), s.request())).status).toBe(500);
  expect(emulator().takeProblems()).toEqual([new Error("nothing to say")]);
});

test("A model that invents names can be played", async () => {
  emulator().script(callUnseen("one"));
  expect((await s.post(emulator(), s.request({ tools }))).status).toBe(200);
});

test("An answerer sees the last text, the results and the visible tools", async () => {
  const seen: unknown[] = [];
  emulator().answer(({ visible, lastUserText, toolResultsOfLastMessage }) => {
    seen.push({ visible, lastUserText, toolResultsOfLastMessage });
    return say("ok");
  });
  await visible(...loaded);
  const found = { toolUseId: "toolu_1", name: "look", text: "", isError: false, references: ["one"] };
  expect(seen).toEqual([{ visible: [...initial, "one"], lastUserText: "a", toolResultsOfLastMessage: [found] }]);
});
