import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UNCOVERED } from "./coverage.ts";

test("The document lists what the emulator does not know", () => {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/emulators.md"), "utf8");
  const section = text.split("### Not covered: Anthropic")[1]?.split("\n#")[0] ?? "";
  const listed = (title: string) => {
    const line = section.split("\n").find((candidate) => candidate.startsWith(`- ${title}: `)) ?? "";
    return [...line.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  };
  expect({
    fields: listed("request fields"),
    tools: listed("tool types"),
    blocks: listed("block types"),
  }).toEqual(UNCOVERED);
});
