import { describe, expect, test } from "vitest";
import { type Emulator, say } from "./index.ts";
import * as s from "./support.ts";

/** A valid request with one mistake, and what the API says to it. */
export interface Broken {
  readonly rule: string;
  readonly what: string;
  readonly body: s.Body;
  readonly message: string;
  readonly code?: string;
  readonly status?: number;
  readonly type?: string;
}

/** Starts an emulator that answers what it accepts. */
export function useAcceptingEmulator(): () => Emulator {
  return s.useEmulator({ answer: () => say("ok") });
}

/** Tests that each body is refused by its rule, with status, type, text and code. */
export function refusesAll(emulator: () => Emulator, broken: readonly Broken[]): void {
  describe("a request with one mistake", () => {
    test.for(broken)("is refused by $rule for $what", (mistake) => expectRefusal(emulator(), mistake));
  });
}

/** Sends a body and expects that it is refused. */
export async function expectRefusal(
  emulator: Emulator,
  { rule, body, message, code, status = 400, type = "invalid_request_error" }: Broken,
  headers = s.headers,
): Promise<void> {
  const response = await s.post(emulator, body, { with: headers });
  const error = { type, message, ...(code === undefined ? {} : { details: { error_code: code } }) };
  expect(await response.json()).toEqual({ type: "error", error, request_id: response.headers.get("request-id") });
  expect([response.status, emulator.requests.at(-1)?.error?.rule]).toEqual([status, rule]);
}

/** Tests that each body is accepted. */
export function acceptsAll(emulator: () => Emulator, fine: readonly (readonly [string, s.Body])[]): void {
  describe("a request that one might think wrong", () => {
    test.for([...fine])("is accepted: %s", ([, body]) => expectAccepted(emulator(), body));
  });
}

/** Sends a body and expects an answer. */
export async function expectAccepted(emulator: Emulator, body: s.Body): Promise<void> {
  const response = await s.post(emulator, body);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
}
