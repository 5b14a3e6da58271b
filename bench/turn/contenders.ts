import { existsSync } from "node:fs";
import { SEARCH_SPEC } from "../../src/catalog/search.ts";
import { everyday } from "../../src/toolkit/toolkit.ts";
import { startWorkerd, type Workerd } from "../../test/workerd.ts";
import { chatOverWebSocket } from "../lib/agent-socket.ts";
import { peerBundle } from "../lib/peer-bundle.ts";
import { readStream, type Timing } from "../lib/read-stream.ts";

/** Something that holds conversations in workerd, with the model at `url`. */
export interface Contender {
  readonly name: string;
  /** Says something in a conversation and reads the answer to its end. */
  say(conversation: string, text: string): Promise<Timing>;
  /** Puts a delay before each object call from now on, in ms. */
  delay(ms: number): Promise<void>;
  /** A new process on the same storage. Answers how long it took until it listened, in ms. */
  fresh(): Promise<number>;
  dispose(): Promise<void>;
}

const SECRET = "bench-secret-bench-secret-bench";

export interface HoldfastContender extends Contender {
  readonly workerd: Workerd;
}

export async function holdfastContender(url: string, counting: boolean): Promise<HoldfastContender> {
  const workerd = await startWorkerd({
    entry: "bench/turn/holdfast-worker.ts",
    bindings: {
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: url,
      HOLDFAST_API_KEYS: `bench:${SECRET}`,
      BENCH_COUNT: counting ? "yes" : "no",
    },
  });
  return { ...overHttp("Holdfast", workerd), workerd };
}

export async function floorContender(url: string): Promise<Contender> {
  const entry = "bench/turn/floor-worker.ts";
  return overHttp("floor", await startWorkerd({ entry, bindings: { ANTHROPIC_BASE_URL: url, TOOLS: definitions() } }));
}

/** Cloudflare's `AIChatAgent`; null where `bench/peers` is not installed. */
export async function peerContender(url: string): Promise<Contender | null> {
  if (!existsSync("bench/peers/node_modules")) return null;
  const entry = await peerBundle("bench/peers/worker.ts");
  const workerd = await startWorkerd({ entry, bindings: { ANTHROPIC_BASE_URL: url, TOOLS: definitions() } });
  const chat = chatOverWebSocket(() => new URL("/agents/sessions/", workerd.url));
  return {
    name: "AIChatAgent",
    say: chat.say,
    // The whole turn runs in the object: what is far away is one message to it.
    async delay(ms) {
      chat.delay(ms);
    },
    async fresh() {
      chat.close();
      return restart(workerd);
    },
    async dispose() {
      chat.close();
      await workerd.dispose();
    },
  };
}

/** Headers and body of a turn over Chat Completions. */
export function turnRequest(conversation: string, text: string): RequestInit {
  return {
    method: "POST",
    headers: {
      authorization: `Bearer ${SECRET}`,
      "content-type": "application/json",
      "x-conversation-id": conversation,
    },
    body: JSON.stringify({ model: "assistant", stream: true, messages: [{ role: "user", content: text }] }),
  };
}

/** The definitions that Holdfast's worker declares from the start, as the API takes them. */
export function definitions(): string {
  const specs = [...everyday.map(({ spec }) => spec), SEARCH_SPEC];
  return JSON.stringify(
    specs.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
  );
}

function overHttp(name: string, workerd: Workerd): Contender {
  return {
    name,
    say: (conversation, text) =>
      readStream(() => workerd.fetch("/v1/chat/completions", turnRequest(conversation, text))),
    async delay(ms) {
      await workerd.fetch(`/bench/delay?object=${ms}`);
    },
    fresh: () => restart(workerd),
    dispose: () => workerd.dispose(),
  };
}

async function restart(workerd: Workerd): Promise<number> {
  const since = performance.now();
  await workerd.fresh();
  return performance.now() - since;
}
