import { expect, test } from "vitest";
import { say } from "./index.ts";
import { MAX_BODY_BYTES } from "./rules/body.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: () => say("ok"), apiKey: "test-key", betas: ["house-2026-01-01"] });

async function error(body: s.Body | string, sent: Record<string, string>) {
  const response = await s.post(emulator(), body, { with: sent });
  const answer: unknown = await response.json();
  return { status: response.status, answer };
}

function told(status: number, type: string, message: string) {
  return { status, answer: { type: "error", error: { type, message }, request_id: expect.any(String) } };
}

const { "x-api-key": _key, ...withoutKey } = s.headers;
const { "anthropic-version": _version, ...withoutVersion } = s.headers;

test("A request without a key is not authenticated (E-A01)", async () => {
  expect(await error(s.request(), withoutKey)).toEqual(told(401, "authentication_error", "invalid x-api-key"));
});

test("A request with another key is not authenticated (E-A01)", async () => {
  const answer = await error(s.request(), { ...s.headers, "x-api-key": "other" });
  expect(answer).toEqual(told(401, "authentication_error", "invalid x-api-key"));
});

test("A bearer token is a key (E-A01)", async () => {
  const response = await s.post(emulator(), s.request(), { with: { ...withoutKey, authorization: "Bearer test-key" } });
  expect(response.status).toBe(200);
});

test("A request without a version is refused (E-A02)", async () => {
  const answer = await error(s.request(), withoutVersion);
  expect(answer).toEqual(told(400, "invalid_request_error", "anthropic-version: header is required"));
});

test("Unknown betas are named (E-A03)", async () => {
  const answer = await error(s.request(), { ...s.headers, "anthropic-beta": "a-2020-01-01,compact-2026-01-12,b" });
  expect(answer).toEqual(
    told(
      400,
      "invalid_request_error",
      "Unexpected value(s) `a-2020-01-01`, `b` for the `anthropic-beta` header. Please consult our documentation at docs.claude.com or try again without the header.",
    ),
  );
});

test("A beta that the options name is accepted (E-A03)", async () => {
  const response = await s.post(emulator(), s.request(), {
    with: { ...s.headers, "anthropic-beta": "house-2026-01-01" },
  });
  expect(response.status).toBe(200);
});

test("A body that is not JSON is refused with the place (E-A04)", async () => {
  const answer = await error('{"model": "claude\n"}', s.headers);
  const text = "The request body is not valid JSON: unexpected control character in string: line 1 column 18 (char 17)";
  expect(answer).toEqual(told(400, "invalid_request_error", text));
});

test("A body with half a surrogate pair is not JSON, and one with a whole pair or a backslash before it is (E-A04)", async () => {
  const said = (content: string) => JSON.stringify({ ...s.request(), messages: [{ role: "user", content }] });
  const text = /^The request body is not valid JSON: no low surrogate in string: line 1 column \d+ \(char \d+\)$/;
  expect(await error(said("a\ud83db"), s.headers)).toEqual(
    told(400, "invalid_request_error", expect.stringMatching(text)),
  );
  for (const content of ["a\ud83d\ude00b", "\\ud83d", "\\\\ud83d"]) {
    expect((await s.post(emulator(), JSON.parse(said(content)))).status).toBe(200);
  }
});

test("A body above 32 MiB is too large (E-A04)", async () => {
  const answer = await error(" ".repeat(MAX_BODY_BYTES + 1), s.headers);
  expect(answer).toEqual(told(413, "request_too_large", "Request exceeds the maximum size"));
});

test("Tokens are counted under the same rules", async () => {
  const counted = s.request({ max_tokens: undefined });
  const path = "/v1/messages/count_tokens";
  const good = await s.post(emulator(), counted, { path });
  expect([good.status, await good.json()]).toEqual([200, { input_tokens: expect.any(Number) }]);
  const bad = await s.post(emulator(), s.request(), { path });
  expect(await bad.json()).toMatchObject({ error: { message: "max_tokens: Extra inputs are not permitted" } });
});

test("Anything else is not found", async () => {
  const response = await s.post(emulator(), s.request(), { path: "/v1/complete" });
  expect(response.status).toBe(404);
});
