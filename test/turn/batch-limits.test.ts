import { expect, test } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { defineTool } from "../../src/define/tool.ts";
import { mustFitCall } from "../../src/session/rpc-limit.ts";
import { call, say, scripted, testAgent } from "../../src/testing.ts";
import { shareOf } from "../../src/turn/limit-result.ts";
import { BATCH, MEDIA_CHARS, RESULT_BYTES } from "../../src/turn/limits.ts";

const MB = 1024 * 1024;

const read = defineTool({
  name: "read",
  description: "Reads a lot.",
  risk: "read",
  execute: () => '"\\'.repeat(150_000),
});
const draw = defineTool({
  name: "draw",
  description: "Draws something large, another one each time.",
  risk: "read",
  execute: (_, { callId }) => ({
    content: [{ type: "image", mediaType: "image/png", data: Buffer.alloc(2.5 * MB, callId).toString("base64") }],
  }),
});
const agent = defineAgent({
  name: "reader",
  description: "Reads.",
  model: "anthropic/claude-sonnet-5",
  tools: [read, draw],
});

test("the results of one answer fit one call of the session, however many and whatever characters they have", async () => {
  const calls = Array.from({ length: 40 }, (_, n) => call("read", {}, `c${n}`));
  const model = scripted(calls, say("Read."));
  const { text, events } = await testAgent(agent, { model: model.provider }).say("Read.");
  expect(text).toBe("Read.");
  const results = events.flatMap((event) => (event.type === "result" ? [event.text] : []));
  expect(results).toHaveLength(40);
  const share = Math.floor(BATCH.textBytes / 40);
  for (const result of results) expect(result).toContain(`a result may hold ${share} …`);
});

test("what an answer's calls draw is refused where together it would be too much, and the turn goes on", async () => {
  const calls = Array.from({ length: 5 }, (_, n) => call("draw", {}, `c${n}`));
  const model = scripted(calls, say("Drawn."), call("draw", {}, "c9"), say("One."));
  const asked = testAgent(agent, { model: model.provider });
  const five = await asked.say("Draw five.");
  const statuses = five.events.flatMap((event) => (event.type === "result" ? [event.status] : []));
  expect(statuses).toEqual(Array.from({ length: 5 }, () => "error"));
  expect(five.text).toBe("Drawn.");
  const one = await asked.say("Draw one.");
  expect(one.events.flatMap((event) => (event.type === "result" ? [event.status] : []))).toEqual(["ok"]);
});

test("one call has as much as ever, and many share", () => {
  expect(shareOf(1)).toEqual({ textBytes: RESULT_BYTES, mediaChars: MEDIA_CHARS });
  expect(shareOf(4).textBytes).toBe(RESULT_BYTES);
  for (const calls of [1, 3, 8, 9, 100, 5_000]) {
    const { textBytes, mediaChars } = shareOf(calls);
    expect(textBytes * calls).toBeLessThanOrEqual(BATCH.textBytes);
    expect(mediaChars * calls).toBeLessThanOrEqual(BATCH.mediaChars);
  }
});

test("a request is measured as it crosses: a string that needs two bytes a character takes twice its length", () => {
  const plain = { v: 1, entries: ["a".repeat(20 * MB)], blobs: [{ base64: "A".repeat(10 * MB) }] };
  expect(() => mustFitCall(plain, "It")).not.toThrow();
  const wide = { ...plain, entries: [`語${"a".repeat(20 * MB)}`] };
  expect(() => mustFitCall(wide, "It")).toThrow("It is too large to be stored at once: 51 MB, where 31 MB fit.");
});
