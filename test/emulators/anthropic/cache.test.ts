import { expect, test } from "vitest";
import { first, long, marked, second, tools, usage } from "./cached-requests.ts";
import { createParking, parkAt, type RecordedRequest, say } from "./index.ts";
import * as s from "./support.ts";

let clock = 0;
const emulator = s.useEmulator({ now: () => clock, answer: () => say("ok") });
const MINUTE = 60_000;

test("What one request wrote the next one reads, wherever the marker has moved to", async () => {
  const cold = await usage(emulator(), first());
  expect(cold).toMatchObject({ read: 0, ideal: 0, rest: 0 });
  const warm = await usage(emulator(), second());
  expect(warm).toEqual({ read: cold.written, written: expect.any(Number), rest: 0, ideal: cold.written });
  expect(warm.written).toBeLessThan(50);
});

test("A string and one text block are the same prompt", async () => {
  const cold = await usage(emulator(), first());
  const string = { role: "user", content: long };
  const warm = await usage(emulator(), second({ messages: [string, s.assistant("ok"), s.user(marked("And?"))] }));
  expect(warm.read).toBe(cold.written);
});

test("The automatic marker stands on the last block", async () => {
  const cold = await usage(emulator(), s.request({ ...s.marker, messages: [s.user(long)] }));
  expect(cold).toMatchObject({ read: 0, rest: 0 });
  const warm = await usage(
    emulator(),
    s.request({ ...s.marker, messages: [s.user(long), s.assistant("ok"), s.user("And?")] }),
  );
  expect(warm.read).toBe(cold.written);
});

test("Without markers nothing is written or read, and the ideal says what could have been", async () => {
  await usage(emulator(), s.request({ messages: [s.user(long)] }));
  const again = await usage(emulator(), s.request({ messages: [s.user(long), s.assistant("ok"), s.user("And?")] }));
  expect(again).toMatchObject({ read: 0, written: 0 });
  expect(again.ideal).toBeGreaterThan(2000);
});

test("Prompts below the model's minimum are not cached", async () => {
  const short = s.words(600);
  const asks = (model: string) => s.request({ model, messages: [s.user(marked(short))] });
  await usage(emulator(), asks("claude-opus-4-8"));
  expect(await usage(emulator(), asks("claude-opus-4-8"))).toMatchObject({ read: 0, written: 0, ideal: 0 });
  await usage(emulator(), asks("claude-opus-5"));
  expect((await usage(emulator(), asks("claude-opus-5"))).read).toBeGreaterThan(600);
});

test("A read looks back over 20 positions and no more", async () => {
  const cold = await usage(emulator(), first());
  const grown = (blocks: number) => {
    const more = Array.from({ length: blocks - 1 }, (_, n) => `Part ${n}`);
    return s.request({ tools, messages: [s.user(long, ...more, marked("End"))] });
  };
  expect((await usage(emulator(), grown(19))).read).toBe(cold.written);
  emulator().reset();
  await usage(emulator(), first());
  const missed = await usage(emulator(), grown(20));
  expect(missed).toMatchObject({ read: 0, ideal: cold.written });
});

test("A marker on the end of the request before makes any distance a hit", async () => {
  const cold = await usage(emulator(), first());
  const more = Array.from({ length: 40 }, (_, n) => `Part ${n}`);
  const anchored = s.request({ tools, messages: [s.user(marked(long), ...more, marked("End"))] });
  expect(await usage(emulator(), anchored)).toMatchObject({ read: cold.written, ideal: cold.written, rest: 0 });
});

test("An entry lives for five minutes from the last read", async () => {
  clock = 0;
  const cold = await usage(emulator(), first());
  clock += 4 * MINUTE;
  expect((await usage(emulator(), second())).read).toBe(cold.written);
  clock += 4 * MINUTE;
  expect((await usage(emulator(), second({ messages: [s.user(marked(long))] }))).read).toBe(cold.written);
  clock += 5 * MINUTE;
  expect(await usage(emulator(), first())).toMatchObject({ read: 0, ideal: 0 });
});

test("With both TTLs the longer part is written for an hour", async () => {
  clock = 0;
  const body = s.request({ messages: [s.user(marked(long, "1h"), marked(s.words(100)))] });
  await usage(emulator(), body);
  const { cache_creation: written } = emulator().requests.at(-1)?.usage ?? {};
  expect(written?.ephemeral_1h_input_tokens).toBeGreaterThan(2000);
  expect(written?.ephemeral_5m_input_tokens).toBeGreaterThan(100);
  expect(written?.ephemeral_5m_input_tokens).toBeLessThan(200);
  clock += 30 * MINUTE;
  expect((await usage(emulator(), body)).read).toBe(written?.ephemeral_1h_input_tokens);
});

test("Only an answer that has begun can be read", async () => {
  const parking = createParking<RecordedRequest>();
  emulator().script([say("slow"), parkAt("headers", parking)]);
  const slow = s.post(emulator(), first());
  await parking.parked;
  expect((await usage(emulator(), first())).read).toBe(0);
  parking.release();
  expect((await slow).status).toBe(200);
  expect((await usage(emulator(), first())).read).toBeGreaterThan(2000);
});

test("On older models thinking leaves the prompt when a new turn begins", async () => {
  emulator().script([{ kind: "thinking", text: s.words(300) }, say("ok")]);
  const messages = [s.user(marked(long))];
  const model = "claude-sonnet-4-5";
  const answer: unknown = await (await s.post(emulator(), s.request({ model, messages }))).json();
  if (typeof answer !== "object" || answer === null || !("content" in answer)) throw new Error("No answer.");
  const turn = { role: "assistant", content: answer.content };
  const asked = async (name: string) =>
    (await usage(emulator(), s.request({ model: name, messages: [...messages, turn, s.user("b")] }))).rest;
  expect(await asked("claude-sonnet-4-5")).toBeLessThan(100);
  expect(await asked("claude-sonnet-4-6")).toBeGreaterThan(300);
});
