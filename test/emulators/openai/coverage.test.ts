import { expect, test } from "vitest";
import { listedUncovered } from "../agree/documented.ts";
import { UNCOVERED } from "./coverage.ts";

test("The document lists what the emulator does not know", () => {
  expect(listedUncovered("OpenAI", { fields: "request fields", tools: "tool types", items: "item types" })).toEqual(
    UNCOVERED,
  );
});
