import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { anthropic } from "../../src/providers/anthropic/provider.ts";
import type { Provider } from "../../src/providers/contract.ts";
import { IDLE_MS } from "../../src/providers/idle-limit.ts";
import { openai } from "../../src/providers/openai/provider.ts";
import { openaiCompatible } from "../../src/providers/openai-chat/provider.ts";
import * as ofAnthropic from "../emulators/anthropic/index.ts";
import * as ofOpenAI from "../emulators/openai/index.ts";
import * as ofChat from "../emulators/openai-chat/index.ts";

/** How the body of each response that was fetched ended. `open`: nobody has read it to its end or cancelled it. */
type Ending = "open" | "read" | "cancelled" | "failed";
const bodies: { ending: Ending }[] = [];

const realFetch = globalThis.fetch;
async function watchedFetch(...args: Parameters<typeof fetch>): Promise<Response> {
  const response = await realFetch(...args);
  if (response.body === null) return response;
  const seen: { ending: Ending } = { ending: "open" };
  bodies.push(seen);
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        seen.ending = "read";
        controller.close();
      } catch (error) {
        seen.ending = "failed";
        controller.error(error);
      }
    },
    cancel(reason) {
      seen.ending = "cancelled";
      return reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

interface Tested {
  readonly provider: Provider;
  readonly model: string;
  readonly emulator: Pick<ofAnthropic.Emulator, "reset" | "close" | "url"> & {
    script(...answers: never[]): void;
  };
  readonly env: Partial<Cloudflare.Env>;
  /** A user's message on its wire. */
  readonly said: string;
  readonly parts: typeof ofAnthropic | typeof ofOpenAI | typeof ofChat;
}

const tested = new Map<string, Tested>();
beforeAll(async () => {
  const [one, two, three] = await Promise.all([
    ofAnthropic.startAnthropicEmulator(),
    ofOpenAI.startOpenAIEmulator(),
    ofChat.startChatEmulator(),
  ]);
  globalThis.fetch = watchedFetch;
  const compatible = openaiCompatible({ baseURL: three.url, apiKey: "key" });
  tested.set("anthropic", {
    ...{ provider: anthropic, model: "claude-sonnet-4-5", emulator: one, parts: ofAnthropic },
    env: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: one.url },
    said: '{"type":"text","text":"hi"}',
  });
  tested.set("openai", {
    ...{ provider: openai, model: "gpt-5.4", emulator: two, parts: ofOpenAI },
    env: { OPENAI_API_KEY: "key", OPENAI_BASE_URL: two.url },
    said: '{"role":"user","content":[{"type":"input_text","text":"hi"}]}',
  });
  tested.set("openai-chat", {
    ...{ provider: compatible, model: "acme-1", emulator: three, parts: ofChat, env: {} },
    said: '{"role":"user","content":"hi"}',
  });
});
afterEach(() => {
  vi.useRealTimers();
  bodies.length = 0;
  for (const { emulator } of tested.values()) emulator.reset();
});
afterAll(async () => {
  globalThis.fetch = realFetch;
  await Promise.all([...tested.values()].map(({ emulator }) => emulator.close()));
});

describe.each(["anthropic", "openai", "openai-chat"])("%s reads or cancels the body of", (name) => {
  const its = () => {
    const found = tested.get(name);
    if (found === undefined) throw new Error(`no provider ${name}`);
    return found;
  };
  const script = (...answers: unknown[]) => its().emulator.script(...(answers as never[]));
  const stream = (signal = new AbortController().signal) => {
    const { provider, model, env } = its();
    const items = [{ seq: 1, role: "user", bytes: its().said, markable: true }] as const;
    const { body } = provider.body({
      model,
      prefix: { settings: provider.settings(model, {}, "key"), tools: [], system: [], ttl: "5m" },
      ...{ deferred: [], items, withheld: [], anchor: null, call: { maxOutputTokens: 2000 }, previous: null },
      blobs: new Map(),
    });
    return provider.stream(model, body, { env: env as Cloudflare.Env, signal });
  };
  const drain = async (signal?: AbortSignal) => {
    for await (const _ of stream(signal));
  };

  test("an answer that is read to its end", async () => {
    script(ofAnthropic.say("Hello there."));
    await drain();
    expect(bodies.length).toBe(1);
    await expectEnded();
  });

  test("an answer that nobody reads on", async () => {
    script(ofAnthropic.say("Hello there, and much more."));
    for await (const event of stream()) if (event.type === "text") break;
    await expectEnded();
  });

  test("an answer that is aborted in its middle", async () => {
    const parking = ofAnthropic.createParking<never>();
    script([ofAnthropic.say("Hello there."), ofAnthropic.parkAt(3, parking as never)]);
    const leaves = new AbortController();
    const drained = drain(leaves.signal);
    await parking.parked;
    await vi.waitFor(() => expect(bodies.length).toBe(1));
    leaves.abort();
    await expect(drained).rejects.toThrow();
    await expectEnded();
    parking.release();
  });

  test("an answer that falls silent", async () => {
    const parking = ofAnthropic.createParking<never>();
    script([ofAnthropic.say("Hello there."), ofAnthropic.parkAt(3, parking as never)]);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const drained = drain();
    drained.catch(() => {});
    await parking.parked;
    await vi.waitFor(() => expect(bodies.length).toBe(1));
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    vi.useRealTimers();
    await expect(drained).rejects.toThrow("broke off");
    await expectEnded();
    parking.release();
  });

  test("an answer whose connection breaks", async () => {
    script([ofAnthropic.say("Hello there."), ofAnthropic.destroyAt(3)]);
    await expect(drain()).rejects.toThrow();
    await expectEnded();
  });

  test("an answer with an error in its middle", async () => {
    const { errorAt } = its().parts;
    script([ofAnthropic.say("Hello there."), errorAt(3)]);
    await expect(drain()).rejects.toThrow();
    await expectEnded();
  });

  test("refusals, those included that are tried again", async () => {
    const { httpFailure, rateLimited } = its().parts;
    script(httpFailure(400, "invalid_request_error", "no"), rateLimited(0 as never), ofAnthropic.say("Hello."));
    await expect(drain()).rejects.toThrow();
    await drain();
    expect(bodies.length).toBe(3);
    await expectEnded();
  });
});

async function expectEnded(): Promise<void> {
  expect(bodies.length).toBeGreaterThan(0);
  await vi.waitFor(() => expect(bodies.map(({ ending }) => ending)).not.toContain("open"));
}
