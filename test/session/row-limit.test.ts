import { expect, test } from "vitest";
import { mustFitRow } from "../../src/session/row-limit.ts";
import { migrate } from "../../src/session/schema.ts";
import { Store } from "../../src/session/store.ts";
import { nodeStorage } from "../../src/testing/node-storage.ts";

test("a row of 1 MB is taken, and one above it is refused, in bytes", () => {
  expect(() => mustFitRow("calls", { rev: 1, text: "a".repeat(1_000_000) })).not.toThrow();
  expect(() => mustFitRow("calls", { rev: 1, text: "a".repeat(1_000_001) })).toThrow(
    "a row of calls would take 1000001 bytes, more than 1000000",
  );
  expect(() => mustFitRow("calls", { rev: 1, chain: "m", text: "ü".repeat(500_000) })).toThrow("1000001 bytes");
});

test("no way to write a row leads past that", () => {
  const storage = nodeStorage();
  migrate(storage.sql);
  const store = new Store(storage);
  const text = "x".repeat(1_000_001);
  expect(() => store.insert("calls", { rev: 1, chain: "m", epoch: 1, text })).toThrow("a row of calls");
  expect(() => store.update({ cuts: text })).toThrow("a row of session");
  expect([...store.calls(0)]).toEqual([]);
  // A text of any length is kept in parts.
  store.addEntries(1, 1, [JSON.stringify(text)]);
  expect([...store.entries(0)]).toEqual([[1, JSON.stringify(text)]]);
});
