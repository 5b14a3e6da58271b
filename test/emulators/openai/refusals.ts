import { describe, expect, test } from "vitest";
import { type OpenAIEmulator, say } from "./index.ts";
import * as s from "./support.ts";

/** A valid request with one mistake, and what the API says to it. */
export interface Broken {
  readonly rule: string;
  readonly what: string;
  readonly body: s.Body;
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
  readonly status?: number;
  readonly path?: string;
}

/** Starts an emulator that answers what it accepts. */
export function useAcceptingEmulator(): () => OpenAIEmulator {
  return s.useEmulator({ answer: () => say("ok") });
}

/** Tests that each body is refused by its rule, with status, text, parameter and code. */
export function refusesAll(emulator: () => OpenAIEmulator, broken: readonly Broken[]): void {
  describe("a request with one mistake", () => {
    test.for(broken)("is refused by $rule for $what", (mistake) => expectRefusal(emulator(), mistake));
  });
}

/** Sends a body and expects that it is refused. */
export async function expectRefusal(emulator: OpenAIEmulator, broken: Broken): Promise<void> {
  const { rule, body, message, param = null, code = null, status = 400, path = "/responses" } = broken;
  const response = await s.post(emulator, body, { path });
  const error = { message, type: "invalid_request_error", param, code };
  expect(await response.json()).toEqual({ error });
  const request = emulator.requests.at(-1);
  expect([response.status, request?.error?.rule]).toEqual([status, rule]);
  expect(response.headers.get("x-request-id")).toBe(`req_${request?.n}`);
}

/** Tests that each body is accepted. */
export function acceptsAll(emulator: () => OpenAIEmulator, fine: readonly (readonly [string, s.Body])[]): void {
  describe("a request that one might think wrong", () => {
    test.for([...fine])("is accepted: %s", ([, body]) => expectAccepted(emulator(), body));
  });
}

/** Sends a body and expects an answer. */
export async function expectAccepted(emulator: OpenAIEmulator, body: s.Body): Promise<void> {
  const response = await s.post(emulator, body);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
}
