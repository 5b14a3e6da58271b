import { expect, test } from "vitest";
import { listedUncovered } from "../agree/documented.ts";
import { UNCOVERED } from "./coverage.ts";

test("The document lists what the emulator does not know", () => {
  const titles = { fields: "request fields", tools: "tool types", blocks: "block types" };
  expect(listedUncovered("Anthropic", titles)).toEqual(UNCOVERED);
});
