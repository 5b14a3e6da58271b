import { expect, test } from "vitest";
import { z } from "zod";
import { DefinitionError } from "../../src/define/definition-error.ts";
import type { InputSchema } from "../../src/define/input.ts";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";
import type { ToolContext } from "../../src/define/types.ts";

const context = (): ToolContext => {
  throw new Error("these tools look at no context");
};
const echo = { name: "echo", description: "Says it back.", execute: (input: unknown) => input };
const note = z.object({
  title: z.string(),
  tags: z.array(z.string()).default([]),
  at: z.object({ x: z.number() }).optional(),
});

async function problem(input: InputSchema | undefined, value: unknown): Promise<string | null> {
  const validated = await defineTool({ ...echo, ...(input ? { input } : {}) }).validate(value);
  return validated.ok ? null : validated.problem;
}

test("a tool has its defaults: it writes, is not idempotent, may take a minute, is not lazy", () => {
  expect(defineTool(echo)).toMatchObject({ risk: "write", idempotent: false, timeoutMs: 60_000, lazy: false });
});

test("models see JSON Schema 2020-12 of an object, without $schema, as plain JSON", () => {
  expect(defineTool({ ...echo, input: note }).spec).toEqual({
    name: "echo",
    description: "Says it back.",
    inputSchema: {
      type: "object",
      properties: {
        title: { type: "string" },
        tags: { type: "array", items: { type: "string" }, default: [] },
        at: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
      },
      required: ["title"],
    },
  });
});

test("plain JSON Schema is sent as it is, without $schema, and later changes to it change nothing", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { a: { type: "string" } },
  };
  const tool = defineTool({ ...echo, input: schema });
  schema.properties.a.type = "number";
  expect(tool.spec.inputSchema).toEqual({ type: "object", properties: { a: { type: "string" } } });
});

test("a tool without input takes an empty, closed object", async () => {
  const tool = defineTool(echo);
  expect(tool.spec.inputSchema).toEqual({ type: "object", properties: {}, additionalProperties: false });
  expect(await tool.validate({})).toEqual({ ok: true, value: {} });
  expect(await tool.validate({ a: 1 })).toMatchObject({ ok: false });
  expect(await tool.validate(null)).toMatchObject({ ok: false });
});

test("validating does not write into the schema that is sent", async () => {
  const tool = defineTool({ ...echo, input: { type: "object", properties: { a: { type: "string" } } } });
  const before = JSON.stringify(tool.spec);
  await tool.validate({ a: 1 });
  expect(JSON.stringify(tool.spec)).toBe(before);
});

test("execute gets what the schema made of the input, defaults filled in", async () => {
  const tool = defineTool({ ...echo, input: note, execute: ({ title, tags }) => `${title}:${tags.length}` });
  const validated = await tool.validate({ title: "a" });
  expect(validated).toEqual({ ok: true, value: { title: "a", tags: [] } });
  if (validated.ok) expect(await tool.run(validated.value, Object.create(null))).toBe("a:0");
});

test("what execute throws comes out of run, at once or later", async () => {
  const now = defineTool({ ...echo, execute: context });
  await expect(now.run({}, Object.create(null))).rejects.toThrow("look at no context");
  const later = defineTool({ ...echo, execute: () => Promise.reject(new Error("later")) });
  await expect(later.run({}, Object.create(null))).rejects.toThrow("later");
});

test("a problem says where and what, for every field that is wrong", async () => {
  expect(await problem(note, { title: 7, at: { x: "no" } })).toBe(
    "title: Invalid input: expected string, received number\nat.x: Invalid input: expected number, received string",
  );
  expect(await problem(note, "text")).toBe("Invalid input: expected object, received string");
  expect(await problem(note, { title: "fine" })).toBeNull();
});

test("plain JSON Schema says where and what too, without the keywords around it", async () => {
  const schema = {
    type: "object",
    properties: { list: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } } },
    required: ["list"],
    additionalProperties: false,
  };
  expect(await problem(schema, { list: [{ n: 1 }, { n: "x" }] })).toMatch(/^list\.1\.n: .*integer/);
  expect(await problem(schema, {})).toMatch(/^Instance does not have required property "list"/);
  expect(await problem(schema, { list: [], more: 1 })).toMatch(/more/);
  expect(await problem(schema, { list: [] })).toBeNull();
});

test("at most five problems are told", async () => {
  const many = z.object(Object.fromEntries("abcdefgh".split("").map((key) => [key, z.string()])));
  const lines = (await problem(many, {}))?.split("\n");
  expect(lines).toHaveLength(6);
  expect(lines?.at(-1)).toBe("and 3 more");
});

test("an asynchronous schema is waited for", async () => {
  const input = z.object({ a: z.string().refine(async (text) => text === "good", "is not good") });
  expect(await problem(input, { a: "bad" })).toBe("a: is not good");
  expect(await problem(input, { a: "good" })).toBeNull();
});

test.each([
  ["10s", 10_000],
  ["500ms", 500],
  ["1.5m", 90_000],
  ["1h", 3_600_000],
  [250, 250],
] as const)("the timeout %s is %d ms", (timeout, ms) => {
  expect(defineTool({ ...echo, timeout }).timeoutMs).toBe(ms);
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "0s", "-1s"] as const)(
  "the timeout %s is refused",
  (timeout) => {
    expect(() => defineTool({ ...echo, timeout })).toThrow(/tool "echo": timeout/);
  },
);

test.each([
  ["a name with a space", { name: "my tool" }, /name "my tool" must start with a letter/],
  ["a name like a number", { name: "12" }, /must start with a letter/],
  ["a name above 64 characters", { name: "x".repeat(65) }, /at most 64/],
  ["an empty description", { description: "  " }, /description is empty/],
  ["an array as input", { input: { type: "array" } }, /type "object", not "array"/],
  ["a schema without a type", { input: {} }, /type "object", not one without a type/],
  ["a schema of a string", { input: z.string() }, /type "object", not "string"/],
  ["a schema that JSON Schema can't say", { input: z.object({ a: z.date() }) }, /Date/],
])("%s is refused, naming the tool", (_, given, message) => {
  const define = () => defineTool<InputSchema>({ ...echo, ...given });
  expect(define).toThrow(DefinitionError);
  expect(define).toThrow(message);
  expect(define).toThrow(/^tool "/);
});

test("options that are not known are refused, and the known ones are named", () => {
  const misspelt = { ...echo, timeOut: "10s" };
  expect(() => defineTool(misspelt)).toThrow(/tool "echo": a tool has no option "timeOut".*timeout/);
});

test("a schema library that can't give JSON Schema is refused by name", () => {
  const old: InputSchema = { "~standard": { version: 1, vendor: "old-lib", validate: () => ({ value: 1 }) } };
  expect(() => defineTool({ ...echo, input: old })).toThrow(/tool "echo".*old-lib/);
});

test("lazy marks tools and lists of tools, and leaves the originals as they were", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => defineTool({ ...echo, name }));
  if (!a || !b || !c) throw new Error("three tools");
  const marked = lazy(a, [b, c]);
  expect(marked.map((tool) => [tool.spec.name, tool.lazy])).toEqual([
    ["a", true],
    ["b", true],
    ["c", true],
  ]);
  expect(a.lazy).toBe(false);
  expect(lazy()).toEqual([]);
});
