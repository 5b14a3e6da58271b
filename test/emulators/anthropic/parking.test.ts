import { expect, test } from "vitest";
import { createParking, destroyAt, parkAt, type RecordedRequest, say, startAnthropicEmulator } from "./index.ts";
import * as s from "./support.ts";

const emulator = s.useEmulator({ answer: () => say("Hello") });
const streamed = s.request({ stream: true });

async function text(body: s.Body = streamed) {
  return await (await s.post(emulator(), body)).text();
}

test.for(["headers", 0, 3, 7] as const)("An answer waits at %s until it is released", async (at) => {
  const parking = emulator().park(() => true, at);
  const answer = text();
  const record = await parking.parked;
  expect([record.outcome, record.events]).toEqual(["open", at === "headers" ? 0 : at]);
  parking.release();
  expect(await answer).toContain("message_stop");
  expect([record.outcome, parking.count]).toEqual(["answered", 1]);
});

test("A client that goes away while its answer waits is recorded", async () => {
  const parking = createParking<RecordedRequest>();
  const left = new Promise<void>((resolve) => {
    emulator().script([say("Hello"), parkAt(3, parking)]);
    const abort = new AbortController();
    fetch(`${emulator().url}/v1/messages`, {
      method: "POST",
      headers: s.headers,
      body: JSON.stringify(streamed),
      signal: abort.signal,
    })
      .then((response) => response.text())
      .catch(() => resolve());
    parking.parked.then(() => abort.abort());
  });
  await left;
  await expect.poll(() => emulator().requests[0]?.outcome).toBe("client_gone");
  expect(emulator().requests[0]?.events).toBe(3);
});

test("Only the requests that are picked wait", async () => {
  const parking = emulator().park((request) => request.bodyText.includes("wait"));
  const waiting = text(s.request({ messages: [s.user("wait")] }));
  await parking.parked;
  expect(await text()).toContain("message_stop");
  parking.release();
  expect(await waiting).toContain("Hello");
});

test("Sixteen sessions at once get their own answers", async () => {
  emulator().answer(({ lastUserText }) => say(`You said ${lastUserText}.`));
  const said = Array.from({ length: 16 }, (_, n) => `session-${n}`);
  const answers = await Promise.all(said.map((words) => text(s.request({ messages: [s.user(words)] }))));
  expect(answers.map((answer) => /session-\d+/.exec(answer)?.[0])).toEqual(said);
  expect(emulator().requests.map((request) => request.n)).toEqual(said.map((_, n) => n + 1));
});

test("What was sent before a cut arrives", async () => {
  emulator().script([say("Hello"), destroyAt(4)]);
  const response = await s.post(emulator(), streamed);
  const decoder = new TextDecoder();
  let seen = "";
  const reading = (async () => {
    for await (const chunk of response.body ?? []) seen += decoder.decode(chunk, { stream: true });
  })();
  await expect(reading).rejects.toThrow();
  expect(seen.match(/^event: /gm)?.length).toBe(4);
});

test("Closing ends answers that wait", async () => {
  const other = await startAnthropicEmulator({ answer: () => say("Hello") });
  const parking = other.park(() => true);
  const answer = s.post(other, streamed).catch((error: unknown) => error);
  await parking.parked;
  await other.close();
  expect(await answer).toBeInstanceOf(Error);
});
