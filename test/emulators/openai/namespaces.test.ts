import { describe, expect, test } from "vitest";
import * as e from "./index.ts";
import * as s from "./support.ts";

const later = s.tool("later");
const search = [s.clientSearch, s.tool("look")];
const bySearch = (model: string) => ({
  model,
  tools: search,
  input: [s.user("Hi"), s.searched("a"), s.loads("a", later)],
});
const byItem = (model: string) => ({ model, tools: search, input: [s.user("Hi"), s.adds(later)] });

/** The call that the model makes of a loaded function, and the tools that its response repeats. */
async function called(emulator: e.OpenAIEmulator, body: s.Body) {
  emulator.script(e.call("later", {}, "c"));
  const response = await s.post(emulator, s.request(body));
  const { output, tools }: { output: s.Body[]; tools: s.Body[] } = await response.json();
  return { namespace: output[0]?.namespace, echo: tools.at(-1), item: output[0] ?? {} };
}

describe("as recorded for the model", () => {
  const emulator = s.useEmulator();

  test.for([
    ["a client's search", bySearch("gpt-5.4"), "later", "namespace"],
    ["additional tools", byItem("gpt-5.4"), "later", "namespace"],
    ["a client's search", bySearch("gpt-5.6"), undefined, "function"],
    ["additional tools", byItem("gpt-5.6-sol"), undefined, "function"],
    ["additional tools", byItem("gpt-5"), "later", "namespace"],
  ] as const)("what %s loads is called and repeated so: %o", async ([, body, namespace, type]) => {
    const { echo, ...call } = await called(emulator(), body);
    expect([call.namespace, echo?.type, echo?.name]).toEqual([namespace, type, "later"]);
  });

  test("what a server's search loaded is in its own namespace on every model", async () => {
    const call = { type: "tool_search_call", execution: "server", call_id: null, arguments: {} };
    const found = { type: "tool_search_output", execution: "server", call_id: null, tools: [later] };
    const input = [s.user("Hi"), call, found];
    const tools = [{ type: "tool_search" }, s.tool("later", { defer_loading: true })];
    expect((await called(emulator(), { model: "gpt-5.6", tools, input })).namespace).toBe("later");
  });

  test("a member of a namespace has that one", async () => {
    const tools = [{ type: "namespace", name: "crm", description: "The CRM.", tools: [later] }];
    expect((await called(emulator(), { tools })).namespace).toBe("crm");
  });

  test("an inline function has none, and its place is kept in what is repeated", async () => {
    const { namespace, echo } = await called(emulator(), { tools: [s.tool("look"), later] });
    expect([namespace, echo]).toEqual([undefined, later]);
  });
});

describe.for(["own", "default"] as const)("whatever the model, in its %s one", (namespaces) => {
  const emulator = s.useEmulator({ namespaces });

  test.for(["gpt-5.4", "gpt-5.6"])("on %s a call comes back as it was made", async (model) => {
    const { namespace, item } = await called(emulator(), bySearch(model));
    expect(namespace).toBe(namespaces === "own" ? "later" : undefined);
    emulator().script(e.say("ok"));
    const { input, ...rest } = bySearch(model);
    const response = await s.post(emulator(), s.request({ ...rest, input: [...input, item, s.output("c")] }));
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  });

  test("a call without a namespace is accepted only where the function is in the default one", async () => {
    emulator().answer(() => e.say("ok"));
    const { input, ...rest } = bySearch("gpt-5.4");
    const response = await s.post(
      emulator(),
      s.request({ ...rest, input: [...input, s.use("b", "later"), s.output("b")] }),
    );
    expect(response.status).toBe(namespaces === "own" ? 400 : 200);
  });
});

describe("a script", () => {
  const emulator = s.useEmulator();
  const problem = async (answer: e.Answer, body: s.Body = {}) => {
    emulator().script(answer);
    expect((await s.post(emulator(), s.request(body))).status).toBe(500);
    return emulator().takeProblems()[0]?.message;
  };

  test("can't call what is not loaded, nor find what is not deferred", async () => {
    const tools = [{ type: "tool_search" }, s.tool("look"), s.tool("later", { defer_loading: true })];
    expect(await problem(e.call("later"), { tools })).toMatch(
      /'later', which this request does not make visible. Visible: look/,
    );
    expect(await problem(e.search(["look"], ["look"]), { tools })).toMatch(/'look', which this request does not defer/);
    expect(await problem(e.call("later"), { tools: search })).toMatch(/Visible: tool_search, look/);
  });

  test("calls a client's search as such only where one is declared", async () => {
    expect(await problem(e.call("tool_search"))).toMatch(/'tool_search', which this request does not make visible/);
  });

  test("can play a model that makes names up", async () => {
    emulator().script(e.callUnseen("made_up"));
    const response = await s.post(emulator(), s.request());
    expect(await response.json()).toMatchObject({ output: [{ type: "function_call", name: "made_up" }] });
  });

  test("that has run out is a problem of the test", async () => {
    expect((await s.post(emulator(), s.request({ input: "Hello?" }))).status).toBe(500);
    expect(emulator().takeProblems()[0]?.message).toBe("No answer is left for request 1: Hello?");
  });
});
