import { expect, test } from "vitest";
import type { CallRecord } from "../../src/session/contract.ts";
import type { Observation } from "../../src/turn/observation.ts";
import { spanOf, traceContext } from "../../src/turn/span.ts";
import { agent } from "../http/stand-ins.ts";

const hex = (bytes: number) => "ab".repeat(bytes);
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";

test.for([
  [`00-${TRACE}-${PARENT}-01`, 1],
  [`00-${TRACE}-${PARENT}-00`, 0],
  [`01-${TRACE}-${PARENT}-03-more`, 3],
] as const)("the caller's trace goes on: %s", ([traceparent, traceFlags]) => {
  expect(traceContext(traceparent, hex)).toEqual({
    ...{ traceId: TRACE, parentSpanId: PARENT, traceFlags },
    spanId: "abababababababab",
  });
});

test.for([
  null,
  "",
  "nonsense",
  `ff-${TRACE}-${PARENT}-01`,
  `00-${"0".repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-01-more`,
])("without a valid one a trace begins: %s", (traceparent) => {
  expect(traceContext(traceparent, hex)).toEqual({
    ...{ traceId: "ab".repeat(16), spanId: "ab".repeat(8), parentSpanId: null, traceFlags: 1 },
  });
});

const request = { agent: agent("assistant"), conversation: { id: "c1", minted: false } };
const span = (observed: Observation) => spanOf(traceContext(null, hex), request, observed, "cd".repeat(8));
const times = { startedAt: 1_000, endedAt: 1_250 };
const usage = { input: 1, cacheRead: 20, cacheWrite: 300, output: 4_000 };

test("a turn that failed says the kind of failure and not what it said", () => {
  const failure = { reason: "provider", status: 529, type: "overloaded_error", message: "secret" } as const;
  const turn = span({ ...times, type: "turn", turn: "turn_1", status: "failed", usage, failure });
  expect(turn).toMatchObject({
    ...{ spanId: "ab".repeat(8), parentSpanId: null, startTime: 1_000, endTime: 1_250, kind: "internal" },
    status: { code: "error" },
    attributes: { "error.type": "provider", "holdfast.status": "failed", "gen_ai.usage.input_tokens": 321 },
  });
  expect(JSON.stringify(turn)).not.toContain("secret");
});

test("a model call that failed has the provider's own word for it, and no time to a first chunk", () => {
  const record: CallRecord = {
    ...{ turn: "turn_1", step: 1, at: 0, model: "anthropic/claude", chain: "anthropic/claude", epoch: 1 },
    verdict: { prefix: "break", cause: "unexpected" },
    ...{ place: "block 3", hash: "", segments: 1 },
    ...{ deferredHash: "", bytes: 1, end: null, answered: false, usage },
  };
  const failure = { reason: "provider", status: 529, type: "overloaded_error", message: "secret" } as const;
  const call = span({
    ...times,
    type: "model",
    provider: "anthropic",
    model: "claude",
    firstAt: null,
    record,
    failure,
  });
  expect(call).toMatchObject({
    ...{ name: "chat claude", kind: "client", spanId: "cd".repeat(8), parentSpanId: "ab".repeat(8) },
    status: { code: "error" },
    attributes: {
      "error.type": "overloaded_error",
      "holdfast.prefix": "break; cause=unexpected",
      "holdfast.place": "block 3",
    },
  });
  expect(call.attributes).not.toHaveProperty("gen_ai.response.time_to_first_chunk");
  const answered = span({ ...times, type: "model", provider: "p", model: "m", firstAt: 1_100, record, failure: null });
  expect(answered.attributes["gen_ai.response.time_to_first_chunk"]).toBe(0.1);
});

test("a call that was refused is an error, by its status", () => {
  const tool = span({ ...times, type: "tool", call: "call_1", name: "wipe", status: "denied" });
  expect(tool).toMatchObject({ name: "execute_tool wipe", attributes: { "error.type": "denied" } });
});
