import { expect, test } from "vitest";
import { Answer } from "../../src/turn/answer.ts";
import type { Block } from "../../src/values/entry.ts";

const thinking: Block = { type: "thinking", text: "hm", raw: "{}" };
const text: Block = { type: "text", text: "so" };
const call: Block = { type: "call", id: "c", name: "clock", input: "{}" };

function answer(blocks: readonly Block[], stop?: "end" | "length"): Answer {
  const taken = new Answer();
  for (const block of blocks) taken.take({ type: "block", block });
  if (stop !== undefined) taken.take({ type: "stop", stop });
  return taken;
}

test("of a cut answer whole blocks and the text so far are kept, blank text is not", () => {
  const cut = answer([thinking, { type: "text", text: " " }, call]);
  cut.take({ type: "text", text: "and th" });
  expect(cut.blocks).toEqual([thinking, call, { type: "text", text: "and th" }]);
});

test("thinking at the end of a cut answer led to nothing, and is dropped", () => {
  expect(answer([thinking, text, thinking]).blocks).toEqual([thinking, text]);
  expect(answer([thinking, text, thinking], "length").blocks).toEqual([thinking, text]);
  expect(answer([thinking]).blocks).toEqual([]);
});

test("a whole answer is kept as it came", () => {
  expect(answer([thinking, text, thinking], "end").blocks).toEqual([thinking, text, thinking]);
});

test("a call whose input the output limit cut is dropped, a whole one is kept", () => {
  expect(answer([text, { ...call, input: '{"a":"b' }], "length").blocks).toEqual([text]);
  expect(answer([text, call], "length").blocks).toEqual([text, call]);
});
