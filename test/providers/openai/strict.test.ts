import { expect, test } from "vitest";
import { isStrict } from "../../../src/providers/openai/strict.ts";

const closed = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

test.for([
  [
    "a closed object that requires all",
    closed({ a: { type: "string", enum: ["x"] }, b: { type: ["integer", "null"] } }),
  ],
  ["an empty one", closed({})],
  ["one within another, and in lists", closed({ a: closed({ b: { type: "array", items: closed({}) } }) })],
  ["alternatives below the root", closed({ a: { anyOf: [{ type: "string", format: "date" }, { type: "null" }] } })],
  ["definitions", { ...closed({ a: { $ref: "#/$defs/d" } }), $defs: { d: closed({}) } }],
])("%s is sent as strict", ([, schema]) => {
  expect(isStrict(schema as Record<string, unknown>)).toBe(true);
});

test.for([
  ["an open object", { ...closed({ a: { type: "string" } }), additionalProperties: true }],
  ["one that says nothing of further properties", { type: "object", properties: {}, required: [] }],
  ["something optional", closed({ a: { type: "string" }, b: { type: "string" } }, ["a"])],
  ["an open object within", closed({ a: { type: "object" } })],
  ["a keyword that strict mode does not know", closed({ a: { type: "string", minLength: 1 } })],
  ["a default", closed({ a: { type: "string", default: "x" } })],
  ["a format that it does not know", closed({ a: { type: "string", format: "uri" } })],
  ["alternatives at the root", { ...closed({}), anyOf: [closed({})] }],
  ["a root that is no object", { type: "string" }],
  ["patterns of names", { ...closed({}), patternProperties: {} }],
  ["anything at all", closed({ a: true })],
  ["more levels than it takes", [1, 2, 3, 4, 5, 6].reduce<object>((inner) => closed({ a: inner }), closed({}))],
  ["an open object among definitions", { ...closed({}), $defs: { d: { type: "object" } } }],
])("%s is not", ([, schema]) => {
  expect(isStrict(schema as Record<string, unknown>)).toBe(false);
});
