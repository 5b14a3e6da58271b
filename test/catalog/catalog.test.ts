import fc from "fast-check";
import { expect, test } from "vitest";
import { deriveActive } from "../../src/catalog/activation.ts";
import { type CatalogMode, toolCatalog } from "../../src/catalog/catalog.ts";
import { isPattern, matchesPattern } from "../../src/catalog/pattern.ts";
import { gate } from "../../src/catalog/permission.ts";
import { searchTools } from "../../src/catalog/search.ts";
import { ToolIndex } from "../../src/catalog/tool-index.ts";
import { catalogOf, core, tool } from "./tools.ts";

const names = (tools: readonly { spec: { name: string } }[]) => tools.map((item) => item.spec.name);
const tools = [core("clock"), core("save"), tool("weather_now"), tool("weather_alerts"), tool("mail")];
const modes = { plan: { allow: ["clock", "weather_*"] }, none: { allow: [] } };

test("the mode agent has all tools", () => {
  const catalog = catalogOf(tools, modes);
  expect(names(catalog.core)).toEqual(["clock", "save"]);
  expect(names(catalog.lazy)).toEqual(["weather_now", "weather_alerts", "mail"]);
  expect(catalog.hasLazy).toBe(true);
});

test("a mode filters core and lazy tools by name, and keeps the whole catalog to ask about", () => {
  const catalog = catalogOf(tools, modes, "plan");
  expect(names(catalog.core)).toEqual(["clock"]);
  expect(names(catalog.lazy)).toEqual(["weather_now", "weather_alerts"]);
  expect(catalog.allowed("mail")).toBe(false);
  expect(catalog.byName.has("mail")).toBe(true);
});

test("no mode filters the search tool, nor decides whether there is one", () => {
  const catalog = catalogOf(tools, modes, "none");
  expect(catalog.core).toEqual([]);
  expect(catalog.allowed("tool_search")).toBe(true);
  expect(catalog.hasLazy).toBe(true);
  expect(catalogOf([core("clock")]).hasLazy).toBe(false);
});

test("a mode makes lazy tools core: they need no search there, and are lazy again elsewhere", () => {
  const promoting = { ask: { allow: ["clock", "weather_*"], core: ["weather_n*"] } };
  const catalog = catalogOf(tools, promoting, "ask");
  expect(names(catalog.core)).toEqual(["clock", "weather_now"]);
  expect(names(catalog.lazy)).toEqual(["weather_alerts"]);
  expect(catalog.byName.get("weather_now")?.lazy).toBe(false);
  expect(gate({ name: "weather_now", catalog, ...NOTHING })).toEqual({ run: true });
  expect(searchTools(catalog, new Set(), { query: "does weather" }).addedToolNames).toEqual(["weather_alerts"]);
  const evidence = [{ name: "weather_now", seq: 1 }];
  expect(deriveActive({ evidence, catalog }).active).toEqual([]);
  expect(deriveActive({ evidence, catalog: catalogOf(tools, promoting) }).active).toEqual(["weather_now"]);
  expect(gate({ name: "weather_now", catalog: catalogOf(tools, promoting), ...NOTHING })).toMatchObject({ run: false });
});

test("plan mode is entered from where it is allowed, and a plan is submitted in it alone", () => {
  const planning = { plan: { allow: ["clock", "enter_plan_mode"] }, some: { allow: ["enter_*"] }, none: { allow: [] } };
  const allows = (mode: string, given: Record<string, CatalogMode> = planning) => {
    const { allowed } = catalogOf([core("enter_plan_mode"), core("submit_plan")], given, mode);
    return ["enter_plan_mode", "submit_plan"].filter(allowed);
  };
  expect(allows("agent")).toEqual(["enter_plan_mode"]);
  expect(allows("plan")).toEqual(["submit_plan"]);
  expect(allows("some")).toEqual(["enter_plan_mode"]);
  expect(allows("none")).toEqual([]);
  expect(allows("plan", {})).toEqual([]);
});

const NOTHING = { active: new Set<string>(), declared: new Set<string>(), allowDestructive: false };

test.each(["gone", "constructor", "__proto__", ""])("a mode that the agent lacks (%j) allows nothing", (mode) => {
  const catalog = catalogOf(tools, modes, mode);
  expect([...catalog.core, ...catalog.lazy]).toEqual([]);
});

test("the search index of the source is used where there is one", () => {
  const index = new ToolIndex(tools);
  expect(toolCatalog({ tools, modes, index }, "plan").index).toBe(index);
});

test.each([
  ["clock", "clock", true],
  ["clock", "clocks", false],
  ["*", "anything", true],
  ["weather_*", "weather_now", true],
  ["weather_*", "my_weather_now", false],
  ["*_now", "weather_now", true],
  ["a*b*c", "aXbYc", true],
  ["a*b*c", "acb", false],
  ["ab*ba", "aba", false],
  ["a**c", "ac", true],
  ["*a*a*", "a", false],
])("the pattern %s and the name %s: %s", (pattern, name, matches) => {
  expect(matchesPattern(pattern, name)).toBe(matches);
});

test("a pattern has the characters of names and stars", () => {
  expect(["a", "*", "weather_*", "a-b"].every(isPattern)).toBe(true);
  expect(["", "a b", "a.b", "a?", "[a]"].some(isPattern)).toBe(false);
});

test("matching means what a regular expression means, in time that does not explode", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[ab*]{1,8}$/), fc.stringMatching(/^[ab]{0,12}$/), (pattern, name) => {
      const expression = new RegExp(`^${pattern.replaceAll(/\*+/g, ".*")}$`);
      expect(matchesPattern(pattern, name)).toBe(expression.test(name));
    }),
  );
  expect(matchesPattern(`${"*a".repeat(60)}b`, "a".repeat(64))).toBe(false);
});
