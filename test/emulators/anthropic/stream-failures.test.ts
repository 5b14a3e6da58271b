import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import * as e from "./index.ts";
import { brief, events, final, params } from "./official-client.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator();

test.for([
  ["A-7a", e.rateLimited(1), 429, "rate_limit_error"],
  ["A-7b", e.overloaded(true), 529, "overloaded_error"],
  ["E-A34", e.serverError(), 500, "api_error"],
  ["E-A34", e.tooLarge(), 413, "request_too_large"],
] as const)("%s: an injected failure of %o answers once", async ([, failure, status, type]) => {
  emulator().fail(failure);
  const { thrown } = await events(emulator());
  expect(thrown).toMatchObject({ status, type });
  if (!(thrown instanceof Anthropic.APIError)) throw thrown;
  expect(Object.fromEntries(thrown.headers?.entries() ?? [])).toMatchObject(failure.headers);
  expect((await final(emulator(), e.say("ok"))).content).toMatchObject([{ text: "ok" }]);
});

test("A-7: the official client tries again after a failure", async () => {
  emulator().fail(e.overloaded());
  emulator().script(e.say("ok"));
  const patient = new Anthropic({
    baseURL: emulator().url,
    apiKey: "k",
    maxRetries: 1,
    fetch: async (...request) => {
      const response = await fetch(...request);
      if (response.ok) return response;
      return new Response(await response.text(), { status: response.status, headers: { "retry-after-ms": "1" } });
    },
  });
  expect((await patient.messages.create(params)).content).toMatchObject([{ text: "ok" }]);
  expect(emulator().requests.map((request) => request.status)).toEqual([529, 200]);
});

test("A-8: an error in mid-stream ends it without message_stop", async () => {
  const { seen, thrown } = await events(emulator(), e.say("Hello"), e.errorAt(4));
  expect(brief(seen)).toEqual(["message_start", "start 0 text", "Hel"]);
  expect(thrown).toMatchObject({ status: undefined, type: "overloaded_error" });
});

test.for(["headers", 0, 1, 4, 6] as const)("A-8: the connection is destroyed at %s", async (at) => {
  const { seen, thrown } = await events(emulator(), e.say("Hello"), e.destroyAt(at));
  expect(thrown).toBeInstanceOf(Error);
  // The ping is not handed out.
  expect(seen.length).toBe(at === "headers" ? 0 : at > 2 ? at - 1 : at);
  expect(emulator().requests.at(-1)?.outcome).toBe("cut");
});
