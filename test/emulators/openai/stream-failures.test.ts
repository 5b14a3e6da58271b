import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import * as e from "./index.ts";
import { brief, client, events, params } from "./official-client.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator();

test.for([
  ["O-7a: 429, with how long to wait", e.rateLimited(2), 429, "rate_limit_exceeded", "requests", "2"],
  ["429 without anything to wait for", e.outOfQuota(), 429, "insufficient_quota", "insufficient_quota", null],
  ["O-7b: 503", e.overloaded(), 503, null, "server_error", null],
  ["503, with how long to wait", e.overloaded(3), 503, null, "server_error", "3"],
  ["500", e.serverError(), 500, null, "server_error", null],
] as const)("%s", async ([, failure, status, code, type, retryAfter]) => {
  emulator().fail(failure);
  const response = await s.post(emulator(), s.request());
  expect([response.status, response.headers.get("retry-after")]).toEqual([status, retryAfter]);
  expect(await response.json()).toMatchObject({ error: { code, type, param: null } });
  expect(emulator().requests[0]?.error?.rule).toBe("E-O19");
});

test("A failure that was injected goes before the script, once", async () => {
  emulator().script(e.say("ok"));
  emulator().fail(e.serverError());
  const statuses = [await s.post(emulator(), s.request()), await s.post(emulator(), s.request())];
  expect(statuses.map(({ status }) => status)).toEqual([500, 200]);
});

test.for(["flat", "nested"] as const)("O-8a, O-8b: a %s error makes the official client throw", async (form) => {
  const { seen, thrown } = await events(emulator(), [e.say("Hello"), e.errorAt(5, form, "rate_limit_exceeded")]);
  expect(brief(seen).slice(4)).toEqual(["Hel"]);
  expect(thrown).toBeInstanceOf(OpenAI.APIError);
  expect(thrown).toMatchObject({ status: undefined, code: "rate_limit_exceeded" });
});

test("O-8a: a flat error whose record has no name is handed out as an event", async () => {
  const { seen, thrown } = await events(emulator(), [e.say("Hello"), e.errorAt(5, "unnamed")]);
  expect(thrown).toBeUndefined();
  expect(brief(seen).slice(4)).toEqual(["Hel", "error"]);
  expect(seen.at(-1)).toMatchObject({ type: "error", code: "server_error", sequence_number: 5 });
});

test("O-8c: a response that fails says so at its end", async () => {
  const { seen } = await events(emulator(), [e.say("Hel"), e.failed("rate_limit_exceeded", "Slow down.")]);
  expect(seen.at(-1)).toMatchObject({
    type: "response.failed",
    response: { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down." }, usage: null },
  });
});

test("O-8d: a connection that is cut has brought what was sent before", async () => {
  const { seen, thrown } = await events(emulator(), [e.say("Hello"), e.destroyAt(5)]);
  expect(brief(seen).slice(4)).toEqual(["Hel"]);
  expect(thrown).toBeInstanceOf(Error);
  expect(emulator().requests[0]).toMatchObject({ outcome: "cut", events: 5 });
});

test("Before the headers a cut is a failure to connect", async () => {
  const { seen, thrown } = await events(emulator(), [e.say("Hello"), e.destroyAt("headers")]);
  expect([seen, thrown]).toMatchObject([[], expect.any(OpenAI.APIConnectionError)]);
});

test("Where nothing is streamed an error in mid-stream is a failure of the request", async () => {
  emulator().script([e.say("Hello"), e.errorAt(5)]);
  await expect(client(emulator()).responses.create(params)).rejects.toMatchObject({ status: 500 });
});

describe("an answer that is parked", () => {
  const parked = s.useEmulator({ answer: () => e.say("Hello") });

  test.for(["headers", 0, 4] as const)("waits at %s until it is released", async (at) => {
    const parking = parked().park(() => true, at);
    const answer = s.post(parked(), s.request({ stream: true })).then((response) => response.text());
    const record = await parking.parked;
    expect([record.outcome, record.events]).toEqual(["open", at === "headers" ? 0 : at]);
    parking.release();
    expect(await answer).toContain("response.completed");
  });

  test("is left by a client that goes away", async () => {
    const parking = parked().park(() => true, 4);
    const abort = new AbortController();
    const { signal } = abort;
    const body = JSON.stringify(s.request({ stream: true }));
    const left = fetch(`${parked().url}/responses`, { method: "POST", headers: s.headers, body, signal })
      .then((response) => response.text())
      .catch(() => "left");
    await parking.parked;
    abort.abort();
    expect(await left).toBe("left");
    await expect.poll(() => parked().requests[0]?.outcome).toBe("client_gone");
  });
});
