import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { contenders } from "./contenders.ts";
import { parseRecordings, type Recorded } from "./recorded.ts";
import { report } from "./report.ts";

const body = { model: "claude-opus-4-8", max_tokens: 10, messages: [{ role: "user", content: "Hello" }] };
const exchange = (id: string, more: Partial<Recorded> = {}): Recorded => ({
  id,
  provider: "anthropic",
  path: "/v1/messages",
  request: body,
  status: 200,
  ...more,
});
const refusal = (type: string) => ({ type: "error", error: { type, message: "No." } });

test("Agreements are counted, disagreements told, the uncovered left out", () => {
  const { lines, good } = report(
    [
      exchange("fine"),
      exchange("wrong", { status: 400, response: refusal("invalid_request_error") }),
      exchange("gone", {
        request: { ...body, model: "none" },
        status: 404,
        response: refusal("not_found_error"),
      }),
      exchange("other", { request: { ...body, thread: { type: "create" } } }),
      exchange("later", { provider: "elsewhere" }),
    ],
    contenders,
  );
  expect(lines).toEqual([
    "differs: anthropic wrong: recorded 400 invalid_request_error (No.), emulator 200",
    "not covered: anthropic other: field thread",
    "anthropic: agree: 2 of 3 (1 not covered)",
    "elsewhere: no emulator yet (1 exchanges left out)",
    "agree: 2 of 3 (1 not covered)",
  ]);
  expect(good).toBe(false);
});

test("Too much that is not covered is bad, even where the rest agrees", () => {
  const uncovered = exchange("other", { request: { ...body, thread: { type: "create" } } });
  expect(report([exchange("fine")], contenders).good).toBe(true);
  expect(report([exchange("fine"), uncovered], contenders).good).toBe(false);
});

test("A block inside a result can be what is not covered", () => {
  const result = { type: "tool_result", tool_use_id: "a", content: [{ type: "browser_state", tabs: [] }] };
  const request = { ...body, messages: [{ role: "user", content: [result] }] };
  expect(report([exchange("browser", { request })], contenders).lines[0]).toBe(
    "not covered: anthropic browser: block type browser_state",
  );
});

test("A line that is no exchange is named", () => {
  expect(() => parseRecordings('\n{"id":"a"}\n')).toThrow(/^Line 2 is no exchange/);
});

test.runIf(process.env.HOLDFAST_RECORDED !== undefined)("The recordings agree", () => {
  const { lines } = report(parseRecordings(readFileSync(String(process.env.HOLDFAST_RECORDED), "utf8")), contenders);
  expect(lines.filter((line) => line.startsWith("differs: "))).toEqual([]);
});
