import { expect } from "vitest";
import type { Emulator } from "./index.ts";
import * as s from "./support.ts";

/** Sends a request and gives what was read, written and neither, and what could have been read. */
export async function usage(emulator: Emulator, body: s.Body) {
  const response = await s.post(emulator, body);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  const record = emulator.requests.at(-1);
  if (record?.usage == null) throw new Error("Nothing was recorded.");
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written, input_tokens: rest } = record.usage;
  return { read, written, rest, ideal: record.idealCachedTokens };
}

/** A marked text. */
export const marked = (text: string, ttl: "5m" | "1h" = "5m") => ({
  type: "text",
  text,
  cache_control: { type: "ephemeral", ttl },
});
/** Enough to be cached on the usual models. */
export const long = s.words(2000);
export const tools = [s.tool("look"), s.tool("later", { defer_loading: true })];
/** A first request. */
export const first = (more: s.Body = {}) => s.request({ tools, messages: [s.user(marked(long))], ...more });
/** One that extends it. */
export const second = (more: s.Body = {}) =>
  s.request({ tools, messages: [s.user(long), s.assistant("ok"), s.user(marked("And?"))], ...more });
