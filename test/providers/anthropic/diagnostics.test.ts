import { expect, test } from "vitest";
import { writeBody } from "../../../src/providers/anthropic/body.ts";
import { readStream } from "../../../src/providers/anthropic/stream.ts";
import type { ModelEvent, ModelRequest } from "../../../src/providers/contract.ts";
import { LocalModel, say } from "../../emulators/anthropic/index.ts";

function bodyOf(model: string, previous: string | null) {
  const request: ModelRequest = {
    model,
    prefix: { settings: `"model":"${model}"`, tools: [], system: [], ttl: "5m" },
    deferred: [],
    items: [{ seq: 1, role: "user", bytes: '{"type":"text","text":"hi"}', markable: true }],
    withheld: [],
    anchor: null,
    call: { maxOutputTokens: 10 },
    previous,
    blobs: new Map(),
  };
  const { body, compared } = writeBody(request);
  return { compared, diagnostics: JSON.parse(body).diagnostics };
}

test("a body names the answer to compare with, and takes part from the first request on", () => {
  expect(bodyOf("claude-sonnet-5", "msg_1")).toEqual({ compared: true, diagnostics: { previous_message_id: "msg_1" } });
  expect(bodyOf("claude-sonnet-5", null)).toEqual({ compared: false, diagnostics: { previous_message_id: null } });
});

test("an id that is not the API's own is not sent, and a model that is not in the table is asked nothing", () => {
  expect(bodyOf("claude-sonnet-5", "resp_1")).toEqual({ compared: false, diagnostics: { previous_message_id: null } });
  expect(bodyOf("elsewhere-1", "msg_1")).toEqual({ compared: false, diagnostics: undefined });
});

async function begun(diagnostics: object | null | undefined): Promise<ModelEvent | undefined> {
  const received = new LocalModel().receive(
    '{"model":"claude-sonnet-5","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}',
  );
  if (received.kind === "refused") throw new Error(received.failure.message);
  const [start, ...rest] = received.answer([say("Hello.")]);
  if (start?.type !== "message_start") throw new Error("an answer begins with message_start");
  const message = { ...start.message, ...(diagnostics === undefined ? {} : { diagnostics }) };
  async function* events() {
    yield { ...start, message } as typeof start;
    yield* rest;
  }
  for await (const event of readStream(events() as Parameters<typeof readStream>[0])) return event;
  return undefined;
}

test.for([
  [undefined, undefined],
  [null, undefined],
  [{ cache_miss_reason: null }, { missReason: "pending" }],
  [
    { cache_miss_reason: { type: "tools_changed", cache_missed_input_tokens: 7 } },
    { missReason: "tools_changed", missedTokens: 7 },
  ],
  [{ cache_miss_reason: { type: "unavailable" } }, { missReason: "unavailable" }],
] as const)("what the API answers is read: %j", async ([diagnostics, diagnosis]) => {
  expect(await begun(diagnostics)).toEqual({
    type: "begun",
    id: expect.any(String),
    ...(diagnosis === undefined ? {} : { diagnosis }),
  });
});
