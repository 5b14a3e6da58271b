import { expect, test } from "vitest";
import { z } from "zod";
import { type AgentOptions, defineAgent } from "../../src/define/agent.ts";
import { checkAgents } from "../../src/define/check-agents.ts";
import { DefinitionError } from "../../src/define/definition-error.ts";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";

const tool = (name: string) => defineTool({ name, description: "Does it.", execute: () => "done" });
const least = { name: "assistant", description: "Helps.", model: "demo/scripted" };

/** Options as untyped code might give them. */
const untyped = (given: object): AgentOptions => JSON.parse(JSON.stringify({ ...least, ...given }));

test("an agent has its defaults", () => {
  expect(defineAgent(least)).toMatchObject({
    name: "assistant",
    settings: { maxOutputTokens: 8_000 },
    instructions: "",
    tools: [],
    modes: {},
    limits: { steps: 50, repeats: 5, subrequests: 9_000 },
    busy: "wait",
    hostSearch: true,
    clientSystem: "accept",
    revision: 1,
    allowDestructive: false,
  });
});

test("limits and settings are completed one by one", () => {
  const agent = defineAgent({ ...least, limits: { steps: 3 }, settings: { effort: "low" } });
  expect(agent.limits).toEqual({ steps: 3, repeats: 5, subrequests: 9_000, seconds: 1_800, tokens: 2_000_000 });
  expect(agent.settings).toEqual({ maxOutputTokens: 8_000, effort: "low" });
});

test("core tools come first, lazy ones after them, each in the order given", () => {
  const agent = defineAgent({
    ...least,
    tools: [lazy(tool("l_one")), tool("c_one"), lazy(tool("l_two")), [tool("c_two")]],
  });
  expect(agent.tools.map((item) => item.spec.name)).toEqual(["c_one", "c_two", "l_one", "l_two"]);
});

test("the agent keeps a search index over its lazy tools", () => {
  const agent = defineAgent({ ...least, tools: [tool("clock"), lazy(tool("convert_units"))] });
  expect(agent.index?.search("convert units", () => true)).toEqual(["convert_units"]);
});

test.each([
  ["a bad name", { name: "my agent" }, /agent name "my agent" must start with a letter/],
  ["an empty description", { description: "" }, /description is empty/],
  ["no description", { description: undefined }, /description is empty/],
  ["a model without provider", { model: "sonnet" }, /model "sonnet" must be "provider\/model"/],
  ["no model", { model: undefined }, /must be "provider\/model"/],
  ["no steps", { limits: { steps: 0 } }, /limits.steps must be a whole number above 0/],
  ["half a repeat", { limits: { repeats: 1.5 } }, /limits.repeats/],
  ["another limit", { limits: { turns: 3 } }, /limits has no option "turns"/],
  ["no output", { settings: { maxOutputTokens: 0 } }, /maxOutputTokens/],
  ["an unknown setting", { settings: { temperature: 1 } }, /settings has no option "temperature"/],
  ["an unknown effort", { settings: { effort: "max" } }, /effort/],
  ["an odd thinking", { settings: { thinking: "yes" } }, /thinking/],
  ["an odd parallelCalls", { settings: { parallelCalls: 1 } }, /parallelCalls/],
  ["an odd cacheTtl", { settings: { cacheTtl: "2h" } }, /cacheTtl/],
  ["an unknown busy", { busy: "queue" }, /busy/],
  ["an unknown clientSystem", { clientSystem: "drop" }, /clientSystem/],
  ["an odd hostSearch", { hostSearch: "no" }, /hostSearch/],
  ["an odd allowDestructive", { allowDestructive: 1 }, /allowDestructive/],
  ["revision 0", { revision: 0 }, /revision/],
  ["something else as a tool", { tools: [[{ name: "mail" }]] }, /tool number 1 is not made by defineTool/],
  ["odd instructions", { instructions: 7 }, /instructions/],
  ["an option that is not known", { mode: {} }, /an agent has no option "mode".*modes/],
  [
    "a fallback that is no model",
    { fallback: ["claude"] },
    /fallback must be a list of "provider\/model" or functions/,
  ],
  ["an option that there is not", { skills: [] }, /no option "skills"/],
])("%s is refused, naming the agent", (_, given, message) => {
  const define = () => defineAgent(untyped(given));
  expect(define).toThrow(DefinitionError);
  expect(define).toThrow(message);
  expect(define).toThrow(/^agent "/);
});

test("two tools of one name are refused, core and lazy ones alike", () => {
  expect(() => defineAgent({ ...least, tools: [tool("mail"), lazy(tool("mail"))] })).toThrow(
    'agent "assistant", tool "mail": the name is used twice',
  );
});

test.each(["tool_search", "enter_plan_mode", "submit_plan"])("the name %s is reserved", (name) => {
  expect(() => defineAgent({ ...least, tools: [tool(name)] })).toThrow(
    `agent "assistant", tool "${name}": the name is reserved`,
  );
});

test("a tool that was not made by defineTool is checked all the same", () => {
  const broken = { ...tool("mail"), timeoutMs: 0 };
  expect(() => defineAgent({ ...least, tools: [broken] })).toThrow('agent "assistant", tool "mail": timeout');
  const list = { ...tool("mail"), spec: { ...tool("mail").spec, inputSchema: { type: "array" } } };
  expect(() => defineAgent({ ...least, tools: [list] })).toThrow(/tool "mail": its input must be a schema of type/);
});

test("modes filter by name and by pattern", () => {
  const modes = { plan: { allow: ["clock", "mail_*"] }, none: { allow: [] } };
  expect(defineAgent({ ...least, tools: [tool("clock"), lazy(tool("mail_read"))], modes }).modes).toEqual(modes);
});

test.each([
  ["a bad mode name", { "my mode": { allow: ["clock"] } }, /mode name "my mode"/],
  ["a mode called agent", { agent: { allow: ["clock"] } }, /the mode "agent" is the mode of all tools/],
  [
    "a pattern that matches no tool",
    { plan: { allow: ["clocks"] } },
    /mode "plan" allows "clocks", which matches none/,
  ],
  ["a pattern with other signs", { plan: { allow: ["cl?ck"] } }, /mode "plan" allows "cl\?ck", which is not a name/],
  ["a mode without a list", { plan: {} }, /mode "plan" needs a list/],
  ["a promotion of nothing", { plan: { allow: ["clock"], core: ["clock"] } }, /makes core "clock", which matches none/],
  ["a promotion that is no list", { plan: { allow: [], core: "x" } }, /needs a list of names or patterns as "core"/],
  ["a mode with other options", { plan: { allow: [], deny: [] } }, /the mode "plan" has no option "deny"/],
])("%s is refused", (_, modes, message) => {
  const options: AgentOptions = { ...untyped({ modes }), tools: [tool("clock")] };
  expect(() => defineAgent(options)).toThrow(message);
});

test("plan brings its two tools behind the core ones, and a mode of the tools that only read", () => {
  const reads = { ...tool("look"), risk: "read" as const };
  const writes = { ...tool("write"), risk: "write" as const };
  const agent = defineAgent({ ...least, tools: [lazy(reads), writes], plan: true });
  expect(agent.tools.map(({ spec }) => spec.name)).toEqual(["write", "enter_plan_mode", "submit_plan", "look"]);
  expect(agent.modes).toEqual({ plan: { allow: ["look"] } });
  const modes = { plan: { allow: ["write"] } };
  expect(defineAgent({ ...least, tools: [writes], plan: true, modes }).modes).toEqual(modes);
  expect(() => defineAgent({ ...least, ...untyped({ plan: "yes" }) })).toThrow("plan must be true or false");
});

test("a worker needs at least one agent, and agents of different names", () => {
  expect(() => checkAgents([])).toThrow("at least one agent");
  expect(() => checkAgents([defineAgent(least), defineAgent(least)])).toThrow('agent "assistant": two agents');
  expect(() => checkAgents([defineAgent(least), defineAgent({ ...least, name: "other" })])).not.toThrow();
});

test("ten thousand tools are checked in good time", () => {
  const one = defineTool({ name: "t", description: "Does it.", input: z.object({ a: z.string() }), execute: () => "" });
  const tools = Array.from({ length: 10_000 }, (_, i) => ({ ...one, spec: { ...one.spec, name: `t_${i}` } }));
  const start = performance.now();
  defineAgent({ ...least, tools: lazy(tools) });
  expect(performance.now() - start).toBeLessThan(500);
});
