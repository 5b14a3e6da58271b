import { expect, test } from "vitest";
import { type GateRequest, gate } from "../../src/catalog/permission.ts";
import { catalogOf, core, tool } from "./tools.ts";

const tools = [
  core("clock"),
  tool("convert"),
  tool("wipe", { lazy: false, risk: "destructive" }),
  tool("mail", { risk: "write" }),
];
const modes = { plan: { allow: ["clock", "wipe"] } };
const ask = (name: string, given: Partial<GateRequest> & { mode?: string } = {}) => {
  const { mode = "agent", ...rest } = given;
  const catalog = catalogOf(tools, modes, mode);
  return gate({ name, catalog, active: new Set(), declared: new Set(), allowDestructive: false, ...rest });
};

test("a core tool runs, and so does the search tool in any mode", () => {
  expect(ask("clock")).toEqual({ run: true });
  expect(ask("tool_search")).toEqual({ run: true });
  expect(ask("tool_search", { mode: "plan" })).toEqual({ run: true });
});

test("a lazy tool runs once it is active, not because it was declared", () => {
  expect(ask("mail", { active: new Set(["mail"]) })).toEqual({ run: true });
  expect(ask("mail", { declared: new Set(["mail"]) })).toEqual({
    run: false,
    status: "error",
    text: "The tool mail is not loaded. Call tool_search first, with its name as the query.",
  });
});

test("a tool that is not there is an error that helps", () => {
  expect(ask("nothing")).toEqual({
    run: false,
    status: "error",
    text: "There is no tool named nothing. Call tool_search to find further tools.",
  });
  expect(ask("CLOCK")).toMatchObject({ text: "There is no tool named CLOCK. Did you mean clock?" });
  expect(ask("nothing", { catalog: catalogOf([core("clock")]) })).toMatchObject({
    text: "There is no tool named nothing.",
  });
});

test("a declared tool that a deploy removed is no longer available", () => {
  expect(ask("old", { declared: new Set(["old"]), active: new Set(["old"]) })).toEqual({
    run: false,
    status: "error",
    text: "The tool old is no longer available.",
  });
});

test("a tool that the mode withholds is denied, and the mode is named, though it is active and declared", () => {
  expect(ask("mail", { mode: "plan", active: new Set(["mail"]), declared: new Set(["mail"]) })).toEqual({
    run: false,
    status: "denied",
    text: "The tool mail is not allowed in the mode plan.",
  });
});

test("a destructive tool is denied unless the agent allows it, in a mode that names it too", () => {
  const denied = { run: false, status: "denied", text: expect.stringContaining("destructive") };
  expect(ask("wipe")).toEqual(denied);
  expect(ask("wipe", { mode: "plan" })).toEqual(denied);
  expect(ask("wipe", { allowDestructive: true })).toEqual({ run: true });
});

test.each(["__proto__", "constructor", ""])("the name %j is a tool that is not there", (name) => {
  expect(ask(name)).toMatchObject({ run: false, status: "error" });
});
